import { Link } from '@tanstack/react-router'
import { useRoles } from '~/api/session'
import type { RunSummary } from '~/api/types'
import { dotsOfCounts } from '~/lib/checkpointDots'
import { formatDuration } from '~/lib/durations'
import { runState } from '~/lib/states'
import { activityText } from '~/lib/waiting'
import { CheckpointDots } from './CheckpointDots'
import { ProgressBar } from './ProgressBar'
import styles from './RunRows.module.css'
import { StateTag } from './StateTag'
import { Time, useNow } from './Time'

/** Runs, one row each. */
export function RunRows({
  runs,
  showPipeline = true,
}: {
  runs: readonly RunSummary[]
  showPipeline?: boolean
}) {
  return (
    <ul>
      {runs.map((run) => (
        <RunRow key={run.run_id} run={run} showPipeline={showPipeline} />
      ))}
    </ul>
  )
}

/** The current activity of an open run, with its progress. */
function RunActivity({ run }: { run: RunSummary }) {
  const now = useNow()
  if (run.open_executions.length === 0 || run.archived_by !== null) return null
  const reporting = run.open_executions.find((item) => item.progress !== null)
  return (
    <div className={styles.activity}>
      {activityText(run, now)}
      {reporting?.progress != null && (
        <ProgressBar {...reporting.progress} label={`Progress of ${reporting.checkpoint_name}`} barOnly />
      )}
    </div>
  )
}

function RunRow({ run, showPipeline }: { run: RunSummary; showPipeline: boolean }) {
  const roles = useRoles()
  const version = run.run_version === null ? 'test' : `v${run.run_version}`
  const { completed_checkpoints: completed, total_checkpoints: total } = run.metadata
  return (
    <li className={styles.row} data-archived={run.archived_by !== null || undefined}>
      <div className={styles.run}>
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles.name}>
          {showPipeline ? run.pipeline_name : version}
          {showPipeline && <span className={styles.version}>{version}</span>}
        </Link>
        <RunActivity run={run} />
      </div>
      <span className={styles.state}>
        {run.archived_by === null ? <StateTag state={runState(run, roles)} /> : <span>Rolled back</span>}
      </span>
      <span className={styles.dots}>
        <CheckpointDots dots={dotsOfCounts(run)} />
        <span className={styles.count}>
          {completed} of {total}
        </span>
      </span>
      <span className={styles.duration}>
        {run.started_at !== null && run.completed_at !== null
          ? formatDuration((new Date(run.completed_at).getTime() - new Date(run.started_at).getTime()) / 1000)
          : ''}
      </span>
      <span className={styles.creator}>{run.created_by}</span>
      <span className={styles.time}>
        <Time at={run.completed_at ?? run.started_at ?? run.created_at} />
      </span>
    </li>
  )
}
