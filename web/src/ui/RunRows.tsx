import { Link } from '@tanstack/react-router'
import { useRoles } from '~/api/session'
import type { RunSummary } from '~/api/types'
import { pebblesOfFigures } from '~/lib/checkpointDots'
import { duration } from '~/lib/durations'
import { runState } from '~/lib/states'
import { nowWords } from '~/lib/waiting'
import { Trail } from './CheckpointDots'
import { ProgressBar } from './ProgressBar'
import styles from './RunRows.module.css'
import { StateTag } from './StateTag'
import { Time, useNow } from './Time'

/** Runs, one row each: what, its state, its trail, when. `named` says whose they are. */
export function RunRows({ runs, named = true }: { runs: readonly RunSummary[]; named?: boolean }) {
  return (
    <ul>
      {runs.map((run) => (
        <RunRow key={run.run_id} run={run} named={named} />
      ))}
    </ul>
  )
}

/** What is at work or waits in an open run, and how far it says that it is. */
function Now({ run }: { run: RunSummary }) {
  const now = useNow()
  if (run.open.length === 0 || run.archived_by !== null) return null
  const told = run.open.find((item) => item.progress !== null)
  return (
    <div className={styles.now}>
      {nowWords(run, now)}
      {told?.progress != null && (
        <ProgressBar {...told.progress} label={`Progress of ${told.checkpoint_name}`} bare />
      )}
    </div>
  )
}

function RunRow({ run, named }: { run: RunSummary; named: boolean }) {
  const roles = useRoles()
  const version = run.run_version === null ? 'test' : `v${run.run_version}`
  const { completed_checkpoints: completed, total_checkpoints: total } = run.metadata
  return (
    <li className={styles.row} data-archived={run.archived_by !== null || undefined}>
      <div className={styles.what}>
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles.name}>
          {named ? run.pipeline_name : version}
          {named && <span className={styles.version}>{version}</span>}
        </Link>
        <Now run={run} />
      </div>
      <span className={styles.state}>
        {run.archived_by === null ? <StateTag state={runState(run, roles)} /> : <span>Rolled back</span>}
      </span>
      <span className={styles.trail}>
        <Trail pebbles={pebblesOfFigures(run)} />
        <span className={styles.figures}>
          {completed} of {total}
        </span>
      </span>
      <span className={styles.took}>
        {run.started_at !== null && run.completed_at !== null
          ? duration((new Date(run.completed_at).getTime() - new Date(run.started_at).getTime()) / 1000)
          : ''}
      </span>
      <span className={styles.by}>{run.created_by}</span>
      <span className={styles.when}>
        <Time at={run.completed_at ?? run.started_at ?? run.created_at} />
      </span>
    </li>
  )
}
