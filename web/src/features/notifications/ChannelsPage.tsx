import { Button } from '@mantine/core'
import { IconPlus, IconSend } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channelPages, deleteChannel, testChannel } from '~/api/notifications'
import type { Channel } from '~/api/types'
import { pluralize, pluralizeAtLeast } from '~/lib/formatting'
import { channelLabel, DELIVERY_STATES } from '~/lib/notifications'
import { AdminPage } from '~/ui/AdminPage'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { Notice, SuccessNote } from '~/ui/Notice'
import { OneTimeValueDialog } from '~/ui/OneTimeValueDialog'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import { ChannelDialog } from './ChannelDialog'
import styles from './Notifications.module.css'

/** The notification channels. */
export function ChannelsPage() {
  const [open, setOpen] = useState<Channel | 'new' | null>(null)
  const [key, setKey] = useState<string | null>(null)
  return (
    <AdminPage
      title="Channels"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
          New channel…
        </Button>
      }
    >
      <Channels onOpen={setOpen} />
      {open !== null && (
        <ChannelDialog
          channel={open === 'new' ? null : open}
          onClose={() => setOpen(null)}
          onSigningKey={setKey}
        />
      )}
      <OneTimeValueDialog
        title="Webhook signing key"
        label="Signing key"
        value={key}
        onClose={() => setKey(null)}
      >
        The receiver verifies the webhook signature with this key.
      </OneTimeValueDialog>
    </AdminPage>
  )
}

function Channels({ onOpen }: { onOpen: (channel: Channel) => void }) {
  const client = useQueryClient()
  const [deleting, setDeleting] = useState<Channel | null>(null)
  const pages = useInfiniteQuery(channelPages())
  if (pages.error !== null)
    return (
      <LoadError title="Couldn't load channels." error={pages.error} retry={() => void pages.refetch()} />
    )
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading channels" />
  const items = pages.data.pages.flatMap((page) => page.items)
  const enabledCount = items.filter((channel) => channel.is_enabled).length
  return (
    <div className={styles.sections}>
      <h1>
        {enabledCount === 0
          ? 'No notification channels'
          : pluralizeAtLeast(enabledCount, pages.hasNextPage, 'notification channel')}
      </h1>
      {items.length === 0 ? (
        <EmptyState title="No channels yet">
          Send notifications to Teams, Slack, email, a webhook or another service.
        </EmptyState>
      ) : (
        <DataTable
          label="Channels"
          columns={COLUMNS}
          rows={items.map((channel) => ({
            key: channel.channel_id,
            faded: !channel.is_enabled,
            cells: [
              <span key="name">
                <strong>{channel.name}</strong>
                <p>
                  {channelLabel(channel.kind)}
                  {!channel.is_enabled && ', disabled'}
                </p>
              </span>,
              channel.kind === 'email' ? channel.recipients.join(', ') || 'assigned people' : channel.host,
              contentLabel(channel),
              channel.fallback ?? '',
              <ChannelButtons key="do" channel={channel} onOpen={onOpen} onDelete={setDeleting} />,
            ],
            below: <ChannelTest key="trial" channel={channel} />,
          }))}
        />
      )}
      <LoadMoreButton pages={pages} />
      <FormDialog
        title={`Delete ${deleting?.name ?? ''}?`}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        cancelLabel="Cancel"
        submitLabel="Delete channel"
        errorTitle="Couldn't delete the channel."
        danger
        note="Its URL and signing key are deleted permanently."
        onSubmit={async () => {
          if (deleting !== null) await deleteChannel(deleting.channel_id)
          await client.invalidateQueries({ queryKey: ['notifications'] })
          if (deleting !== null) showToast(`Deleted channel ${deleting.name}.`)
          setDeleting(null)
        }}
      >
        <p>Queued deliveries are skipped.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Channel', width: 'minmax(0, 1.1fr)', untitled: true },
  { title: 'Destination', width: 'minmax(0, 1fr)' },
  { title: 'Notifications', width: 'minmax(0, 1fr)' },
  { title: 'Fallback', width: 'minmax(0, 0.7fr)' },
  { title: 'Edit', width: '190px', untitled: true, alignEnd: true },
]

function contentLabel(channel: Channel): string {
  const where = channel.pipelines.length > 0 ? `, ${pluralize(channel.pipelines.length, 'pipeline')}` : ''
  return `${pluralize(channel.notification_kinds.length, 'kind')}${where}${channel.include_details ? '' : ', no details'}`
}

type ButtonsProps = {
  channel: Channel
  onOpen: (channel: Channel) => void
  onDelete: (channel: Channel) => void
}

function ChannelButtons({ channel, onOpen, onDelete }: ButtonsProps) {
  return (
    <>
      <Button onClick={() => onOpen(channel)} aria-label={`Edit ${channel.name}…`}>
        Edit…
      </Button>
      <Button
        variant="subtle"
        color="red"
        onClick={() => onDelete(channel)}
        aria-label={`Delete ${channel.name}…`}
      >
        Delete…
      </Button>
    </>
  )
}

/** Sends a test and shows the result. */
function ChannelTest({ channel }: { channel: Channel }) {
  const client = useQueryClient()
  const test = useMutation({
    mutationFn: () => testChannel(channel.channel_id, null),
    onSettled: () => client.invalidateQueries({ queryKey: ['notifications', 'deliveries'] }),
  })
  const { data } = test
  return (
    <div className={styles.below}>
      <div className={styles.filters}>
        <Button
          leftSection={<IconSend size={16} />}
          loading={test.isPending}
          onClick={() => test.mutate()}
          aria-label={`Send test to ${channel.name}`}
        >
          Send test
        </Button>
        {data?.status === 'sent' && <SuccessNote>Test delivered. {data.response}</SuccessNote>}
      </div>
      {data !== undefined && data.status !== 'sent' && (
        <Notice
          tone={data.status === 'failed' ? 'red' : 'grey'}
          title={`Test result: ${DELIVERY_STATES[data.status].label.toLowerCase()}.`}
        >
          {data.response}
        </Notice>
      )}
      {test.error !== null && <ProblemNotice title="Couldn't send the test." error={test.error} />}
    </div>
  )
}
