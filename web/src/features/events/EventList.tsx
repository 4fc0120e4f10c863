import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type EventFilter, events } from '~/api/queries'
import type { AuditEvent } from '~/api/types'
import { clock, exact } from '~/lib/durations'
import { shortDigest } from '~/lib/formatting'
import { prettyValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Panel } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import { useNow } from '~/ui/Time'
import styles from './Events.module.css'

/** The audit trail, the newest first, page by page. */
export function EventList({ filter, withRun = false }: { filter: EventFilter; withRun?: boolean }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    events(filter),
  )
  if (error !== null)
    return <Failure what="The events could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={6} label="Loading events" />
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <Empty title="No events here">Nothing has happened that matches.</Empty>
  return (
    <div className={styles.list}>
      <Panel>
        <ol>
          {items.map((event) => (
            <EventRow key={event.event_id} event={event} withRun={withRun} />
          ))}
        </ol>
      </Panel>
      {hasNextPage && (
        <Button className={styles.older} loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </div>
  )
}

function EventRow({ event, withRun }: { event: AuditEvent; withRun: boolean }) {
  const now = useNow()
  return (
    <li className={styles.event}>
      <details>
        <summary>
          <time dateTime={event.timestamp} title={exact(event.timestamp)} className={styles.when}>
            {clock(event.timestamp, now)}
          </time>
          <span className={styles.what}>{event.description || event.event_type}</span>
          <span className={styles.who}>{event.actor}</span>
          <code className={styles.type}>{event.event_type}</code>
        </summary>
        <div className={styles.more}>
          <p className={styles.links}>
            <span>
              Number {event.seq}, hash <code>{shortDigest(event.hash)}</code>
            </span>
            {withRun && event.run_id !== null && (
              <Link
                to="/runs/$runId"
                params={{ runId: event.run_id }}
                search={{ checkpoint: event.checkpoint_id ?? undefined }}
              >
                Open the run
              </Link>
            )}
            {withRun && event.run_id === null && event.pipeline_id !== null && (
              <Link to="/pipelines/$pipelineId" params={{ pipelineId: event.pipeline_id }}>
                Open the pipeline
              </Link>
            )}
          </p>
          {hasContent(event.metadata) && (
            <Code text={prettyValue(event.metadata)} label="Details of the event" wrap />
          )}
        </div>
      </details>
    </li>
  )
}

const hasContent = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
