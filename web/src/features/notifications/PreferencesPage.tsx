import { Button, Switch, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { preferences, setPreferences } from '~/api/notifications'
import type { NotificationKind, Preferences } from '~/api/types'
import { channelLabel, NOTIFICATION_KINDS } from '~/lib/notifications'
import { CheckboxList } from '~/ui/CheckboxList'
import { LoadingText } from '~/ui/Loading'
import { Page } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Notifications.module.css'

const DEFAULT_QUIET_HOURS = { start: '22:00', end: '07:00' }

/** The notification preferences of the current user. */
export function PreferencesPage() {
  const { data, error, refetch } = useQuery(preferences())
  return (
    <Page title="Notifications" crumbs={[{ label: 'Settings', link: { to: '/settings' } }]}>
      <div className={styles.sections}>
        <h1>Notifications</h1>
        <p className={styles.note}>
          These settings apply to notifications sent to you personally, such as email. Messages to a Teams or
          Slack channel reach everyone in it. Everything waiting for you is always on the home page.
        </p>
        {error !== null ? (
          <LoadError title="Couldn't load your preferences." error={error} retry={() => void refetch()} />
        ) : data === undefined ? (
          <LoadingText lines={5} />
        ) : (
          <PreferencesForm key={JSON.stringify(data)} stored={data} />
        )}
      </div>
    </Page>
  )
}

function PreferencesForm({ stored }: { stored: Preferences }) {
  const client = useQueryClient()
  const [kinds, setKinds] = useState<NotificationKind[]>(
    stored.notification_kinds ?? NOTIFICATION_KINDS.map((notice) => notice.value),
  )
  const names = stored.available_channels.map((channel) => channel.name)
  const [selectedChannels, setSelectedChannels] = useState(
    stored.channels === null ? names : matchingChannels(stored.channels, stored.available_channels),
  )
  const [quiet, setQuiet] = useState(stored.quiet_hours)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      setPreferences({
        notification_kinds: kinds.length === NOTIFICATION_KINDS.length ? null : kinds,
        channels: selectedChannels.length === names.length ? null : selectedChannels,
        quiet_hours: quiet,
      }),
    onSuccess: (saved) => {
      client.setQueryData(preferences().queryKey, saved)
      showToast('Preferences saved.')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <CheckboxList label="Notify me about" options={NOTIFICATION_KINDS} value={kinds} onChange={setKinds} />
      {stored.available_channels.length > 0 ? (
        <CheckboxList
          label="Channels"
          options={stored.available_channels.map((channel) => ({
            value: channel.name,
            label: channel.name,
            description: channelLabel(channel.kind),
          }))}
          value={selectedChannels}
          onChange={setSelectedChannels}
        />
      ) : (
        <p className={styles.note}>No channel can reach you personally yet.</p>
      )}
      <Switch
        label="Quiet hours: hold notifications until they end"
        checked={quiet !== null}
        onChange={(event) =>
          setQuiet(
            event.currentTarget.checked ? { ...DEFAULT_QUIET_HOURS, time_zone: localTimeZone() } : null,
          )
        }
      />
      {quiet !== null && (
        <div className={styles.hours}>
          <TextInput
            label="From"
            type="time"
            required
            value={quiet.start}
            onChange={(event) => setQuiet({ ...quiet, start: event.currentTarget.value })}
          />
          <TextInput
            label="To"
            type="time"
            required
            value={quiet.end}
            onChange={(event) => setQuiet({ ...quiet, end: event.currentTarget.value })}
          />
          <TextInput
            label="Time zone"
            required
            value={quiet.time_zone}
            onChange={(event) => setQuiet({ ...quiet, time_zone: event.currentTarget.value })}
          />
        </div>
      )}
      {error !== null && <ProblemNotice title="Couldn't save your preferences." error={error} />}
      <Button type="submit" variant="filled" loading={isPending}>
        Save preferences
      </Button>
    </form>
  )
}

const localTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** A preference can name a channel or a channel kind. */
function matchingChannels(
  preferred: readonly string[],
  available: Preferences['available_channels'],
): string[] {
  const names = preferred.map((name) => name.toLowerCase())
  return available
    .filter((channel) => names.includes(channel.name.toLowerCase()) || names.includes(channel.kind))
    .map((channel) => channel.name)
}
