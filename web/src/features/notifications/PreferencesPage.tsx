import { Button, Switch, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { preferences, setPreferences } from '~/api/notifications'
import type { NoticeKind, Preferences } from '~/api/types'
import { channelWords, NOTICES } from '~/lib/notifications'
import { Ticks } from '~/ui/CheckboxList'
import { LoadingText } from '~/ui/Loading'
import { Page } from '~/ui/Page'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './Notifications.module.css'

const NIGHT = { start: '22:00', end: '07:00' }

/** What one wants to be told outside Cairn, by which way, and when not. */
export function PreferencesPage() {
  const { data, error, refetch } = useQuery(preferences())
  return (
    <Page title="What you are told" crumbs={[{ label: 'Settings', link: { to: '/settings' } }]}>
      <div className={styles.parts}>
        <h1>What you are told</h1>
        <p className={styles.note}>
          This is about what is sent to you alone, such as mail. What goes to a room of Teams or Slack goes to
          everybody in it. What waits for you is always on the home page.
        </p>
        {error !== null ? (
          <Failure what="Your wishes could not be read." error={error} retry={() => void refetch()} />
        ) : data === undefined ? (
          <LoadingText lines={5} />
        ) : (
          <Wishes key={JSON.stringify(data)} stored={data} />
        )}
      </div>
    </Page>
  )
}

function Wishes({ stored }: { stored: Preferences }) {
  const client = useQueryClient()
  const [kinds, setKinds] = useState<NoticeKind[]>(stored.kinds ?? NOTICES.map((notice) => notice.value))
  const names = stored.available.map((channel) => channel.name)
  const [ways, setWays] = useState(
    stored.channels === null ? names : waysOf(stored.channels, stored.available),
  )
  const [quiet, setQuiet] = useState(stored.quiet)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefusal(null)
    try {
      const all = kinds.length === NOTICES.length
      const saved = await setPreferences({
        kinds: all ? null : kinds,
        channels: ways.length === names.length ? null : ways,
        quiet,
      })
      client.setQueryData(preferences().queryKey, saved)
      tell('Your wishes are kept.')
    } catch (error) {
      setRefusal(error)
    }
    setBusy(false)
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <Ticks label="Tell me when" options={NOTICES} value={kinds} onChange={setKinds} />
      {stored.available.length > 0 ? (
        <Ticks
          label="By"
          options={stored.available.map((channel) => ({
            value: channel.name,
            label: channel.name,
            about: channelWords(channel.kind),
          }))}
          value={ways}
          onChange={setWays}
        />
      ) : (
        <p className={styles.note}>There is no channel yet that reaches single persons.</p>
      )}
      <Switch
        label="Quiet hours: what comes then is sent afterwards"
        checked={quiet !== null}
        onChange={(event) =>
          setQuiet(event.currentTarget.checked ? { ...NIGHT, time_zone: ownZone() } : null)
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
      {refusal !== null && <Refusal title="Your wishes are as before." error={refusal} />}
      <Button type="submit" variant="filled" loading={busy}>
        Keep my wishes
      </Button>
    </form>
  )
}

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** A wish may name a channel or a kind of them. */
function waysOf(wished: readonly string[], available: Preferences['available']): string[] {
  const wanted = wished.map((name) => name.toLowerCase())
  return available
    .filter((channel) => wanted.includes(channel.name.toLowerCase()) || wanted.includes(channel.kind))
    .map((channel) => channel.name)
}
