import { Button } from '@mantine/core'
import { IconPlus, IconSend } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channelPages, removeChannel, testChannel } from '~/api/notifications'
import type { Channel } from '~/api/types'
import { count, countOf } from '~/lib/formatting'
import { channelWords, DELIVERIES } from '~/lib/notifications'
import { ForAdmins } from '~/ui/AdminPage'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { More } from '~/ui/LoadMore'
import { Done, Notice } from '~/ui/Notice'
import { ShownOnce } from '~/ui/OneTimeValueDialog'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import { ChannelDialog } from './ChannelDialog'
import styles from './Notifications.module.css'

/** Where people are told outside Cairn; each can be tried. */
export function ChannelsPage() {
  const [open, setOpen] = useState<Channel | 'new' | null>(null)
  const [key, setKey] = useState<string | null>(null)
  return (
    <ForAdmins
      title="Channels"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
          New channel…
        </Button>
      }
    >
      <Channels onOpen={setOpen} />
      {open !== null && (
        <ChannelDialog channel={open === 'new' ? null : open} onClose={() => setOpen(null)} onKey={setKey} />
      )}
      <ShownOnce title="The key of the webhook" label="Signing key" value={key} onClose={() => setKey(null)}>
        Whoever receives the webhook checks its signature with this key.
      </ShownOnce>
    </ForAdmins>
  )
}

function Channels({ onOpen }: { onOpen: (channel: Channel) => void }) {
  const client = useQueryClient()
  const [removing, setRemoving] = useState<Channel | null>(null)
  const found = useInfiniteQuery(channelPages())
  if (found.error !== null)
    return (
      <Failure
        what="The channels could not be read."
        error={found.error}
        retry={() => void found.refetch()}
      />
    )
  if (found.data === undefined) return <LoadingRows rows={3} label="Loading the channels" />
  const items = found.data.pages.flatMap((page) => page.items)
  const on = items.filter((channel) => channel.is_enabled).length
  return (
    <div className={styles.parts}>
      <h1>
        {on === 0
          ? 'Nobody is told outside Cairn'
          : `People are told by ${countOf(on, found.hasNextPage, 'channel')}`}
      </h1>
      {items.length === 0 ? (
        <Empty title="No channels yet">Teams, Slack, mail, a webhook, or another service.</Empty>
      ) : (
        <Sheet
          label="Channels"
          columns={COLUMNS}
          rows={items.map((channel) => ({
            key: channel.channel_id,
            faded: !channel.is_enabled,
            cells: [
              <span key="name">
                <strong>{channel.name}</strong>
                <p>
                  {channelWords(channel.kind)}
                  {!channel.is_enabled && ', switched off'}
                </p>
              </span>,
              channel.kind === 'email' ? channel.recipients.join(', ') || 'who is asked' : channel.host,
              whatWords(channel),
              channel.fallback ?? '',
              <ChannelButtons key="do" channel={channel} onOpen={onOpen} onRemove={setRemoving} />,
            ],
            below: <Trial key="trial" channel={channel} />,
          }))}
        />
      )}
      <More pages={found} />
      <FormDialog
        title={`Remove ${removing?.name ?? ''}?`}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        keep="Keep the channel"
        send="Remove the channel"
        refused="The channel stays."
        danger
        note="Its address and key are gone for good."
        onSend={async () => {
          if (removing !== null) await removeChannel(removing.channel_id)
          await client.invalidateQueries({ queryKey: ['notices'] })
          if (removing !== null) tell(`${removing.name} is removed.`)
          setRemoving(null)
        }}
      >
        <p>What waits to be sent there is skipped.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Channel', width: 'minmax(0, 1.1fr)', bare: true },
  { title: 'Leads to', width: 'minmax(0, 1fr)' },
  { title: 'Gets', width: 'minmax(0, 1fr)' },
  { title: 'If it fails', width: 'minmax(0, 0.7fr)' },
  { title: 'Change', width: '190px', bare: true, end: true },
]

function whatWords(channel: Channel): string {
  const where = channel.pipelines.length > 0 ? `, of ${count(channel.pipelines.length, 'pipeline')}` : ''
  return `${count(channel.kinds.length, 'kind')} of notices${where}${channel.shows_details ? '' : ', no details'}`
}

type ButtonsProps = {
  channel: Channel
  onOpen: (channel: Channel) => void
  onRemove: (channel: Channel) => void
}

function ChannelButtons({ channel, onOpen, onRemove }: ButtonsProps) {
  return (
    <>
      <Button onClick={() => onOpen(channel)} aria-label={`Change ${channel.name}…`}>
        Change…
      </Button>
      <Button
        variant="subtle"
        color="red"
        onClick={() => onRemove(channel)}
        aria-label={`Remove ${channel.name}…`}
      >
        Remove…
      </Button>
    </>
  )
}

/** Sends a test there now, and says in place what came of it. */
function Trial({ channel }: { channel: Channel }) {
  const client = useQueryClient()
  const trial = useMutation({
    mutationFn: () => testChannel(channel.channel_id, null),
    onSettled: () => client.invalidateQueries({ queryKey: ['notices', 'deliveries'] }),
  })
  const { data } = trial
  return (
    <div className={styles.below}>
      <div className={styles.filters}>
        <Button
          leftSection={<IconSend size={16} />}
          loading={trial.isPending}
          onClick={() => trial.mutate()}
          aria-label={`Send a test to ${channel.name}`}
        >
          Send a test
        </Button>
        {data?.status === 'sent' && <Done>The test was taken. {data.told}</Done>}
      </div>
      {data !== undefined && data.status !== 'sent' && (
        <Notice
          tone={data.status === 'failed' ? 'red' : 'grey'}
          title={`The test: ${DELIVERIES[data.status].word.toLowerCase()}.`}
        >
          {data.told}
        </Notice>
      )}
      {trial.error !== null && <Refusal title="The test was not sent." error={trial.error} />}
    </div>
  )
}
