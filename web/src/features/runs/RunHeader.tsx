import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRoles } from '~/api/session'
import type { Run } from '~/api/types'
import { dotsOfCheckpoints } from '~/lib/checkpointDots'
import { formatDuration, formatEstimate, formatTime } from '~/lib/durations'
import { initials } from '~/lib/formatting'
import { versionLabel } from '~/lib/runVersion'
import { runStateFromCheckpoints } from '~/lib/states'
import { CheckpointDots } from '~/ui/CheckpointDots'
import { StateTag } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './RunHeader.module.css'

const OPEN = ['in_progress', 'paused']

/** The header of the run page. */
export function RunHeader({ run, cost }: { run: Run; cost: ReactNode }) {
  const now = useNow()
  const roles = useRoles()
  const state = runStateFromCheckpoints(run, roles)
  const elapsed = elapsedSeconds(run, now)
  const remaining = run.progress.estimated_seconds_left
  return (
    <div className={styles.header}>
      <div className={styles.row}>
        <h1>
          {run.pipeline_name} <span className={styles.version}>{versionLabel(run)}</span>
        </h1>
        <StateTag state={state} pill />
        <span className={styles.dots}>
          <CheckpointDots dots={dotsOfCheckpoints(run.checkpoints)} />
          <span>
            {run.progress.completed} of {run.progress.total}
          </span>
        </span>
      </div>
      <div className={styles.details}>
        <span className={styles.creator}>
          <span className={styles.initials} aria-hidden="true">
            {initials(run.created_by)}
          </span>
          {run.created_by}, {formatTime(run.created_at, now)}
        </span>
        {run.extends_from_run_version !== null && run.previous_run_id !== null && (
          <Link to="/runs/$runId" params={{ runId: run.previous_run_id }} className={styles.link}>
            Based on v{run.extends_from_run_version}
          </Link>
        )}
        {elapsed !== null && (
          <span>
            {OPEN.includes(run.status) ? 'Elapsed' : 'Took'} {formatDuration(elapsed)}
          </span>
        )}
        {OPEN.includes(run.status) && remaining !== null && (
          <span className={styles.secondary}>{capital(formatEstimate(remaining))} of work remaining</span>
        )}
        {cost}
        {run.pass_number > 1 && <span>Pass {run.pass_number}</span>}
        {run.test && <span>Test run</span>}
        {run.archived_by !== null && <span>Archived by a rollback</span>}
      </div>
    </div>
  )
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

function elapsedSeconds(run: Run, now: Date): number | null {
  if (run.started_at === null) return null
  const end = run.completed_at === null ? now : new Date(run.completed_at)
  return OPEN.includes(run.status) || run.completed_at !== null
    ? (end.getTime() - new Date(run.started_at).getTime()) / 1000
    : run.progress.elapsed_seconds
}
