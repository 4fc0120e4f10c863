import type { Approval, Execution, Role, Run, RunCheckpoint } from '~/api/types'
import { canAnswer, canEdit, executionState } from '~/lib/states'

/** The content of the bottom bar of a run. */
export type BarContent =
  | { kind: 'start run' }
  | { kind: 'decide'; approval: Approval }
  | { kind: 'fill in'; approval: Approval | null }
  | { kind: 'start'; item: RunCheckpoint }
  | { kind: 'failed'; item: RunCheckpoint }
  | { kind: 'elsewhere'; item: RunCheckpoint }
  | { kind: 'resume' }
  | { kind: 'running'; item: RunCheckpoint | null }
  | { kind: 'over' }

const isFinished = (run: Run) => ['completed', 'failed', 'cancelled'].includes(run.status)

function selectedContent(
  run: Run,
  item: RunCheckpoint | undefined,
  execution: Execution | undefined,
): BarContent | null {
  if (item === undefined || isFinished(run)) return null
  const approval =
    execution?.approval ?? run.pending_approvals.find((one) => one.execution_id === item.execution_id) ?? null
  if (item.waiting_on === 'human_form' || item.waiting_on === 'script_input')
    return { kind: 'fill in', approval }
  if (approval !== null && approval.status === 'pending') {
    return approval.kind === 'input' ? { kind: 'fill in', approval } : { kind: 'decide', approval }
  }
  if (item.status === 'pending' && run.status !== 'paused') return { kind: 'start', item }
  if (item.status === 'failed') return { kind: 'failed', item }
  return null
}

/** Chooses the content of the bar: the selected checkpoint first, then what waits elsewhere. */
export function barContent(
  run: Run,
  selected: RunCheckpoint | undefined,
  execution: Execution | undefined,
): BarContent {
  if (run.status === 'not_started') return { kind: 'start run' }
  const own = selectedContent(run, selected, execution)
  if (own !== null) return own
  if (isFinished(run)) {
    const failed = run.checkpoints.find((item) => item.status === 'failed')
    return run.status === 'failed' && failed !== undefined
      ? { kind: 'failed', item: failed }
      : { kind: 'over' }
  }
  if (run.status === 'paused') {
    const failed = run.checkpoints.find((item) => item.status === 'failed')
    return failed === undefined ? { kind: 'resume' } : { kind: 'failed', item: failed }
  }
  const waiting = run.checkpoints.find((item) => executionState(item).tone === 'ochre')
  if (waiting !== undefined && waiting !== selected) return { kind: 'elsewhere', item: waiting }
  return { kind: 'running', item: run.checkpoints.find((item) => item.status === 'in_progress') ?? null }
}

/** Whether the user can perform the action of the bar. */
export function canAct(content: BarContent, roles: readonly Role[]): boolean {
  switch (content.kind) {
    case 'decide':
      return content.approval.can_decide
    case 'fill in':
      return content.approval?.can_decide ?? canAnswer(roles)
    default:
      return canEdit(roles)
  }
}

/** The checkpoint to open by default: one that needs a person, is running, has failed or was completed last. */
export function initialCheckpoint(checkpoints: readonly RunCheckpoint[]): RunCheckpoint | undefined {
  const withTone = (tone: string) =>
    checkpoints.find((item) => item.status !== 'upcoming' && executionState(item).tone === tone)
  return (
    withTone('ochre') ??
    withTone('blue') ??
    withTone('red') ??
    checkpoints.findLast((item) => item.status === 'completed') ??
    checkpoints[0]
  )
}
