import { PasswordInput, Switch, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channels, createChannel, updateChannel } from '~/api/notifications'
import { pipelines } from '~/api/queries'
import type { Channel, ChannelKind, NotificationKind } from '~/api/types'
import { CHANNEL_KINDS, NOTIFICATION_KINDS } from '~/lib/notifications'
import { CheckboxList } from '~/ui/CheckboxList'
import { FormDialog } from '~/ui/FormDialog'
import { SelectField } from '~/ui/SelectField'
import { showToast } from '~/ui/toasts'

const DEFAULT_KINDS: NotificationKind[] = NOTIFICATION_KINDS.map((notice) => notice.value).filter(
  (kind) => kind !== 'run_completed',
)

type Props = { channel: Channel | null; onClose: () => void; onSigningKey: (key: string) => void }

/** Creates or edits a channel. Its URL is a secret: an empty field keeps the stored one. */
export function ChannelDialog({ channel, onClose, onSigningKey }: Props) {
  const client = useQueryClient()
  const { data: channels_ } = useQuery(channels())
  const { data: allPipelines } = useQuery(pipelines())
  const [name, setName] = useState(channel?.name ?? '')
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? 'teams')
  const [url, setUrl] = useState('')
  const [people, setPeople] = useState((channel?.recipients ?? []).join(', '))
  const [enabled, setEnabled] = useState(channel?.is_enabled ?? true)
  const [details, setDetails] = useState(channel?.include_details ?? true)
  const [kinds, setKinds] = useState<NotificationKind[]>(channel?.notification_kinds ?? DEFAULT_KINDS)
  const [pipelineIds, setPipelineIds] = useState<string[]>(channel?.pipelines ?? [])
  const [fallback, setFallback] = useState(channel?.fallback ?? '')
  const isMail = kind === 'email'
  const save = async () => {
    const body = {
      name: name.trim(),
      url: url.trim() === '' ? null : url.trim(),
      is_enabled: enabled,
      include_details: details,
      notification_kinds: kinds,
      pipelines: pipelineIds,
      recipients: isMail ? listOf(people) : null,
    }
    if (channel === null) {
      const created = await createChannel({ ...body, kind, fallback: fallback || null })
      if (created.signing_key !== null) onSigningKey(created.signing_key)
    } else await updateChannel(channel.channel_id, channel.revision, { ...body, fallback })
    await client.invalidateQueries({ queryKey: ['notifications'] })
    showToast(channel === null ? `Created channel ${body.name}.` : `Saved channel ${body.name}.`)
    onClose()
  }
  return (
    <FormDialog
      title={channel === null ? 'New channel' : `Edit ${channel.name}`}
      opened
      wide
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel={channel === null ? 'Create channel' : 'Save channel'}
      errorTitle={channel === null ? "Couldn't create the channel." : "Couldn't save the channel."}
      disabled={name.trim() === '' || (channel === null && !isMail && url.trim() === '')}
      onSubmit={save}
    >
      <TextInput
        label="Name"
        description="Rules can refer to this name."
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {channel === null && (
        <SelectField
          label="Kind"
          value={kind}
          options={CHANNEL_KINDS}
          onChange={(value) => setKind(value as ChannelKind)}
        />
      )}
      {isMail ? (
        <TextInput
          label="Recipients (optional)"
          description="Users, email addresses, roles or groups, separated by commas. Used when a rule names no recipients. Leave empty to notify the assigned people."
          value={people}
          onChange={(event) => setPeople(event.currentTarget.value)}
        />
      ) : (
        <PasswordInput
          label={channel === null ? 'URL' : 'New URL (optional)'}
          description={`${CHANNEL_KINDS.find((each) => each.value === kind)?.hint} Stored as a secret and never shown again.`}
          autoComplete="off"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
      )}
      <CheckboxList label="Notifications" options={NOTIFICATION_KINDS} value={kinds} onChange={setKinds} />
      {allPipelines !== undefined && allPipelines.items.length > 0 && (
        <CheckboxList
          label="Limit to pipelines (optional)"
          options={allPipelines.items.map((item) => ({ value: item.pipeline_id, label: item.pipeline_name }))}
          value={pipelineIds}
          onChange={setPipelineIds}
        />
      )}
      <SelectField
        label="Fallback channel"
        value={fallback}
        options={[
          { value: '', label: 'None' },
          ...(channels_?.items ?? [])
            .filter((other) => other.channel_id !== channel?.channel_id)
            .map((other) => ({ value: other.name, label: other.name })),
        ]}
        onChange={setFallback}
      />
      <Switch
        label="Include content, not just a link"
        checked={details}
        onChange={(event) => setDetails(event.currentTarget.checked)}
      />
      <Switch
        label="Enabled"
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
