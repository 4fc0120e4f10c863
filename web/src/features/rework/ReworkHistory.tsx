import { useQuery } from '@tanstack/react-query'
import * as queries from '~/api/queries'
import type { Execution, ReworkItem } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { downloadUrl, fileName } from '~/lib/files'
import { formatBytes, shortId } from '~/lib/formatting'
import { useNow } from '~/ui/Time'
import styles from './Rework.module.css'
import { statusText } from './reworkText'

/** The rework chain of an execution: why it was reworked, what it sent back, and what it superseded. */
export function ReworkHistory({ execution }: { execution: Execution }) {
  const { data: lineage } = useQuery(queries.lineage(execution.run_id))
  const reworks = lineage?.reworks ?? []
  const own = reworks.find((item) => item.execution_id === execution.execution_id)
  const requested = reworks.filter((item) => item.parent_execution_id === execution.execution_id)
  const earlier = reworks.some((item) => item.checkpoint_id === execution.checkpoint_id)
  if (own === undefined && requested.length === 0 && !earlier) return null
  return (
    <div className={styles.reworks}>
      {own !== undefined && (
        <section aria-label="Reason for the rework">
          <h3>Rework</h3>
          <ReworkReason item={own} />
        </section>
      )}
      {requested.length > 0 && (
        <section aria-label="Requested rework">
          <h3>Requested rework</h3>
          <ol>
            {requested.map((item) => (
              <li key={item.execution_id}>
                <p>
                  <strong>{item.checkpoint_name}</strong>, {statusText(item)}
                </p>
                <ReworkReason item={item} />
              </li>
            ))}
          </ol>
        </section>
      )}
      {earlier && <Superseded execution={execution} />}
    </div>
  )
}

function ReworkReason({ item }: { item: ReworkItem }) {
  const now = useNow()
  const requester = item.parent_checkpoint_name
  return (
    <>
      <p className={styles.meta}>
        Requested by {item.requested_by}
        {requester !== null && ` at ${requester}`}
        {item.depth > 1 && `, depth ${item.depth}`}
        <span className={styles.time}>{formatTime(item.created_at, now)}</span>
      </p>
      {item.reason !== '' && <blockquote className={styles.quote}>{item.reason}</blockquote>}
      {item.prompt !== '' && (
        <blockquote className={styles.quote}>
          <strong>Instructions:</strong> {item.prompt}
        </blockquote>
      )}
    </>
  )
}

/** Superseded executions. Their artifacts stay available. */
function Superseded({ execution }: { execution: Execution }) {
  const now = useNow()
  const { data } = useQuery(queries.executions(execution.run_id))
  const before = (data?.items ?? []).filter(
    (other) => other.checkpoint_id === execution.checkpoint_id && other.superseded_by !== null,
  )
  if (before.length === 0) return null
  return (
    <section aria-label="Superseded versions">
      <h3>Superseded</h3>
      <ol>
        {before.map((other) => (
          <li key={other.execution_id}>
            <p className={styles.meta}>
              execution <code>{shortId(other.execution_id)}</code>
              {other.completed_at !== null && (
                <span className={styles.time}>{formatTime(other.completed_at, now)}</span>
              )}
            </p>
            <ul className={styles.files}>
              {other.artifacts_generated.map((artifact) => (
                <li key={artifact.artifact_record_id}>
                  <a href={downloadUrl(artifact)} download>
                    {fileName(artifact)}
                  </a>{' '}
                  {formatBytes(artifact.size_bytes)}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  )
}
