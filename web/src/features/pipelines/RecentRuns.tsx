import type { PipelineSummary } from '~/api/types'
import styles from './RecentRuns.module.css'

/** The last runs, the newest at the right; colour only where something is wrong or open. */
export function RunBars({ runs }: { runs: PipelineSummary['recent_runs'] }) {
  if (runs.length === 0) return <span className={styles.none}>No runs yet</span>
  const oldestFirst = runs.toReversed()
  const failed = runs.filter((run) => run.status === 'failed').length
  const words = `Last ${runs.length === 1 ? 'run' : `${runs.length} runs`}, ${failed} failed`
  return (
    <span className={styles.bars} role="img" aria-label={words}>
      {oldestFirst.map((run) => (
        <span key={run.run_id} className={styles.bar} data-status={run.status} />
      ))}
    </span>
  )
}
