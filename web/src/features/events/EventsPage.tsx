import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type EventFilter, pipelines } from '~/api/queries'
import { Page } from '~/ui/Page'
import { SelectField } from '~/ui/SelectField'
import { EventList } from './EventList'
import styles from './Events.module.css'

const route = getRouteApi('/events')

/** The audit trail. Filters are part of the address, so that a view can be shared. */
export function EventsPage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { data } = useQuery(pipelines())
  const updateFilter = (change: EventFilter) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const filtered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Page title="Events">
      <h1 className={styles.title}>Events</h1>
      <div className={styles.filters}>
        <SelectField
          label="Pipeline"
          value={filter.pipeline_id ?? ''}
          options={[
            { value: '', label: 'All pipelines' },
            ...(data?.items ?? []).map((item) => ({ value: item.pipeline_id, label: item.pipeline_name })),
          ]}
          onChange={(value) => updateFilter({ pipeline_id: value || undefined })}
        />
        <TypeFilter
          key={filter.event_type}
          value={filter.event_type ?? ''}
          onChange={(value) => updateFilter({ event_type: value || undefined })}
        />
        <DayFilter label="From" value={filter.since} onChange={(since) => updateFilter({ since })} />
        <DayFilter label="To" value={filter.until} end onChange={(until) => updateFilter({ until })} />
        {filtered && (
          <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
            Clear filters
          </Button>
        )}
      </div>
      {filter.run_id !== undefined && <p className={styles.note}>Showing the events of one run.</p>}
      <EventList filter={filter} showRunLink />
    </Page>
  )
}

function TypeFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(typed.trim())
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        label="Event type"
        placeholder="All types"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => typed.trim() !== value && onChange(typed.trim())}
      />
    </form>
  )
}

type DayProps = {
  label: string
  value: string | undefined
  end?: boolean
  onChange: (value: string | undefined) => void
}

function DayFilter({ label, value, end = false, onChange }: DayProps) {
  const change = (day: string) =>
    onChange(day === '' ? undefined : new Date(`${day}T${end ? '23:59:59.999' : '00:00:00'}`).toISOString())
  return (
    <TextInput
      type="date"
      label={label}
      value={value === undefined ? '' : localDay(value)}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}

function localDay(instant: string): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleDateString('sv-SE')
}
