import type { Approval, Execution, Role, Run, TrailItem } from '~/api/types'
import { executionState, mayAnswer, mayEdit } from '~/lib/states'

/** What the bottom bar of a run is about. */
export type Question =
  | { kind: 'start run' }
  | { kind: 'decide'; approval: Approval }
  | { kind: 'fill in'; approval: Approval | null }
  | { kind: 'start'; item: TrailItem }
  | { kind: 'failed'; item: TrailItem }
  | { kind: 'elsewhere'; item: TrailItem }
  | { kind: 'resume' }
  | { kind: 'running'; item: TrailItem | null }
  | { kind: 'over' }

const isOver = (run: Run) => ['completed', 'failed', 'cancelled'].includes(run.status)

function ofSelected(
  run: Run,
  item: TrailItem | undefined,
  execution: Execution | undefined,
): Question | null {
  if (item === undefined || isOver(run)) return null
  const approval =
    execution?.approval ?? run.waiting_approvals.find((one) => one.execution_id === item.execution_id) ?? null
  if (item.waiting_on === 'human_form' || item.waiting_on === 'script_input')
    return { kind: 'fill in', approval }
  if (approval !== null && approval.status === 'pending') {
    return approval.kind === 'input' ? { kind: 'fill in', approval } : { kind: 'decide', approval }
  }
  if (item.status === 'pending' && run.status !== 'paused') return { kind: 'start', item }
  if (item.status === 'failed') return { kind: 'failed', item }
  return null
}

/** The one thing to ask or tell: first about what is looked at, then about what waits elsewhere. */
export function questionOf(
  run: Run,
  selected: TrailItem | undefined,
  execution: Execution | undefined,
): Question {
  if (run.status === 'not_started') return { kind: 'start run' }
  const own = ofSelected(run, selected, execution)
  if (own !== null) return own
  if (isOver(run)) {
    const failed = run.trail.find((item) => item.status === 'failed')
    return run.status === 'failed' && failed !== undefined
      ? { kind: 'failed', item: failed }
      : { kind: 'over' }
  }
  if (run.status === 'paused') {
    const failed = run.trail.find((item) => item.status === 'failed')
    return failed === undefined ? { kind: 'resume' } : { kind: 'failed', item: failed }
  }
  const waits = run.trail.find((item) => executionState(item).tone === 'ochre')
  if (waits !== undefined && waits !== selected) return { kind: 'elsewhere', item: waits }
  return { kind: 'running', item: run.trail.find((item) => item.status === 'in_progress') ?? null }
}

/** Whether who is signed in may do what is asked. */
export function mayTake(question: Question, roles: readonly Role[]): boolean {
  switch (question.kind) {
    case 'decide':
      return question.approval.may_decide
    case 'fill in':
      return question.approval?.may_decide ?? mayAnswer(roles)
    default:
      return mayEdit(roles)
  }
}

/** The checkpoint to open when none is chosen: what needs a person, what runs, what failed, what was done last. */
export function opening(trail: readonly TrailItem[]): TrailItem | undefined {
  const toned = (tone: string) =>
    trail.find((item) => item.status !== 'upcoming' && executionState(item).tone === tone)
  return (
    toned('ochre') ??
    toned('blue') ??
    toned('red') ??
    trail.findLast((item) => item.status === 'completed') ??
    trail[0]
  )
}
