import { PasswordInput, Switch, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeChannel, channels, makeChannel } from '~/api/notifications'
import { pipelines } from '~/api/queries'
import type { Channel, ChannelKind, NoticeKind } from '~/api/types'
import { CHANNELS, NOTICES } from '~/lib/notifications'
import { Ticks } from '~/ui/CheckboxList'
import { FormDialog } from '~/ui/FormDialog'
import { Choice } from '~/ui/SelectField'
import { tell } from '~/ui/toasts'

const USUAL: NoticeKind[] = NOTICES.map((notice) => notice.value).filter((kind) => kind !== 'run_completed')

type Props = { channel: Channel | null; onClose: () => void; onKey: (key: string) => void }

/** A channel, new or changed. Its address is a secret: what is left empty stays as it is. */
export function ChannelDialog({ channel, onClose, onKey }: Props) {
  const client = useQueryClient()
  const { data: others } = useQuery(channels())
  const { data: known } = useQuery(pipelines())
  const [name, setName] = useState(channel?.name ?? '')
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? 'teams')
  const [url, setUrl] = useState('')
  const [people, setPeople] = useState((channel?.recipients ?? []).join(', '))
  const [enabled, setEnabled] = useState(channel?.is_enabled ?? true)
  const [details, setDetails] = useState(channel?.shows_details ?? true)
  const [kinds, setKinds] = useState<NoticeKind[]>(channel?.kinds ?? USUAL)
  const [places, setPlaces] = useState<string[]>(channel?.pipelines ?? [])
  const [fallback, setFallback] = useState(channel?.fallback ?? '')
  const isMail = kind === 'email'
  const save = async () => {
    const wanted = {
      name: name.trim(),
      url: url.trim() === '' ? null : url.trim(),
      is_enabled: enabled,
      shows_details: details,
      kinds,
      pipelines: places,
      recipients: isMail ? listOf(people) : null,
    }
    if (channel === null) {
      const made = await makeChannel({ ...wanted, kind, fallback: fallback || null })
      if (made.signing_key !== null) onKey(made.signing_key)
    } else await changeChannel(channel.channel_id, channel.revision, { ...wanted, fallback })
    await client.invalidateQueries({ queryKey: ['notices'] })
    tell(channel === null ? `${wanted.name} is set up.` : `${wanted.name} is changed.`)
    onClose()
  }
  return (
    <FormDialog
      title={channel === null ? 'New channel' : `Change ${channel.name}`}
      opened
      wide
      onClose={onClose}
      keep="Leave it so"
      send={channel === null ? 'Set the channel up' : 'Save the channel'}
      refused={channel === null ? 'There is no new channel.' : 'Nothing was changed.'}
      disabled={name.trim() === '' || (channel === null && !isMail && url.trim() === '')}
      onSend={save}
    >
      <TextInput
        label="Name"
        description="Rules may name it."
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {channel === null && (
        <Choice
          label="Kind"
          value={kind}
          options={CHANNELS}
          onChange={(value) => setKind(value as ChannelKind)}
        />
      )}
      {isMail ? (
        <TextInput
          label="To (optional)"
          description="Persons, addresses, roles or groups, by commas, where a rule names nobody. Empty: those who are asked."
          value={people}
          onChange={(event) => setPeople(event.currentTarget.value)}
        />
      ) : (
        <PasswordInput
          label={channel === null ? 'Address' : 'New address (optional)'}
          description={`${CHANNELS.find((each) => each.value === kind)?.address} Kept as a secret, never shown again.`}
          autoComplete="off"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
      )}
      <Ticks label="Gets" options={NOTICES} value={kinds} onChange={setKinds} />
      {known !== undefined && known.items.length > 0 && (
        <Ticks
          label="Only of these pipelines (optional)"
          options={known.items.map((item) => ({ value: item.pipeline_id, label: item.pipeline_name }))}
          value={places}
          onChange={setPlaces}
        />
      )}
      <Choice
        label="If it fails, tell by"
        value={fallback}
        options={[
          { value: '', label: 'Nothing else' },
          ...(others?.items ?? [])
            .filter((other) => other.channel_id !== channel?.channel_id)
            .map((other) => ({ value: other.name, label: other.name })),
        ]}
        onChange={setFallback}
      />
      <Switch
        label="Says what it is about, not only that something waits"
        checked={details}
        onChange={(event) => setDetails(event.currentTarget.checked)}
      />
      <Switch
        label="Switched on"
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
