import type { PipelineSummary } from '~/api/types'
import styles from './RecentRuns.module.css'

/** The latest runs as bars, newest on the right. Only failed and open runs are coloured. */
export function RecentRuns({ runs }: { runs: PipelineSummary['recent_runs'] }) {
  if (runs.length === 0) return <span className={styles.empty}>No runs yet</span>
  const oldestFirst = runs.toReversed()
  const failed = runs.filter((run) => run.status === 'failed').length
  const label = `Last ${runs.length === 1 ? 'run' : `${runs.length} runs`}, ${failed} failed`
  return (
    <span className={styles.bars} role="img" aria-label={label}>
      {oldestFirst.map((run) => (
        <span key={run.run_id} className={styles.bar} data-status={run.status} />
      ))}
    </span>
  )
}
