import type { RunCheckpoint, RunSummary } from '~/api/types'
import { pluralize } from './formatting'
import { executionState, hasFailed } from './states'
import { needsManualStart } from './waiting'

/** The state of one checkpoint as a dot. */
export type CheckpointDot = 'done' | 'ochre' | 'blue' | 'red' | 'grey' | 'open'

export function dotsOfCheckpoints(
  checkpoints: readonly Pick<RunCheckpoint, 'status' | 'waiting_on' | 'retry_due_at'>[],
): CheckpointDot[] {
  return checkpoints.map((item) => {
    if (item.status === 'completed') return 'done'
    if (item.status === 'upcoming') return 'open'
    const tone = executionState(item).tone
    return tone === 'green' ? 'done' : tone
  })
}

/** The dots of a run in a list, from its counts. */
export function dotsOfCounts(
  run: Pick<
    RunSummary,
    'status' | 'pending_approval_count' | 'pending_start_count' | 'open_executions' | 'metadata'
  >,
): CheckpointDot[] {
  const { total_checkpoints: total, completed_checkpoints: completed } = run.metadata
  const dots: CheckpointDot[] = Array.from({ length: total }, (_, index) =>
    index < completed ? 'done' : 'open',
  )
  if (completed < total) {
    if (hasFailed(run)) dots[completed] = 'red'
    else if (run.status === 'paused') dots[completed] = run.pending_approval_count > 0 ? 'ochre' : 'grey'
    else if (run.status === 'in_progress')
      dots[completed] = run.pending_approval_count > 0 || needsManualStart(run) ? 'ochre' : 'blue'
  }
  return dots
}

const DOT_LABELS: Record<CheckpointDot, string> = {
  done: 'completed',
  ochre: 'waiting',
  blue: 'running',
  red: 'failed',
  grey: 'stopped',
  open: 'upcoming',
}

/** The dots in words, for screen readers. */
export function dotsLabel(dots: readonly CheckpointDot[]): string {
  const kinds: CheckpointDot[] = ['done', 'blue', 'ochre', 'red', 'grey', 'open']
  const parts = kinds
    .map((kind) => [kind, dots.filter((dot) => dot === kind).length] as const)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => `${number} ${DOT_LABELS[kind]}`)
  return parts.length === 0
    ? 'No checkpoints'
    : `${pluralize(dots.length, 'checkpoint')}: ${parts.join(', ')}`
}
