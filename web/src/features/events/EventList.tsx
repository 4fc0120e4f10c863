import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type EventFilter, events } from '~/api/queries'
import type { AuditEvent } from '~/api/types'
import { formatDateTime, formatTime } from '~/lib/durations'
import { shortDigest } from '~/lib/formatting'
import { formatValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Panel } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { useNow } from '~/ui/Time'
import styles from './Events.module.css'

/** Events, newest first, page by page. */
export function EventList({ filter, showRunLink = false }: { filter: EventFilter; showRunLink?: boolean }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    events(filter),
  )
  if (error !== null)
    return <LoadError title="Couldn't load events." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={6} label="Loading events" />
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <EmptyState title="No events found">No events match.</EmptyState>
  return (
    <div className={styles.list}>
      <Panel>
        <ol>
          {items.map((event) => (
            <EventRow key={event.event_id} event={event} showRunLink={showRunLink} />
          ))}
        </ol>
      </Panel>
      {hasNextPage && (
        <Button className={styles.older} loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load older events
        </Button>
      )}
    </div>
  )
}

function EventRow({ event, showRunLink }: { event: AuditEvent; showRunLink: boolean }) {
  const now = useNow()
  return (
    <li className={styles.event}>
      <details>
        <summary>
          <time dateTime={event.timestamp} title={formatDateTime(event.timestamp)} className={styles.time}>
            {formatTime(event.timestamp, now)}
          </time>
          <span className={styles.description}>{event.description || event.event_type}</span>
          <span className={styles.actor}>{event.actor}</span>
          <code className={styles.type}>{event.event_type}</code>
        </summary>
        <div className={styles.more}>
          <p className={styles.links}>
            <span>
              Event {event.seq}, hash <code>{shortDigest(event.hash)}</code>
            </span>
            {showRunLink && event.run_id !== null && (
              <Link
                to="/runs/$runId"
                params={{ runId: event.run_id }}
                search={{ checkpoint: event.checkpoint_id ?? undefined }}
              >
                View run
              </Link>
            )}
            {showRunLink && event.run_id === null && event.pipeline_id !== null && (
              <Link to="/pipelines/$pipelineId" params={{ pipelineId: event.pipeline_id }}>
                View pipeline
              </Link>
            )}
          </p>
          {hasContent(event.metadata) && (
            <Code text={formatValue(event.metadata)} label="Event details" wrap />
          )}
        </div>
      </details>
    </li>
  )
}

const hasContent = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
