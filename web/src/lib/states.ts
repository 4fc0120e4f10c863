import type {
  Approval,
  ExecutionStatus,
  Role,
  RunStatus,
  RunSummary,
  TrailItem,
  WaitingOn,
} from '~/api/types'
import { duration } from './durations'
import { onlyWaitsForAStart } from './waiting'

/** Colour is spent on state only; ochre means that a person is needed. */
export type Tone = 'grey' | 'blue' | 'green' | 'red' | 'ochre'
export type Sign =
  | 'dashed'
  | 'dotted'
  | 'running'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'person'
  | 'form'
  | 'alert'
  | 'retry'
  | 'rework'
  | 'blocked'
  | 'rule'
  | 'pencil'
  | 'timeout'
export type State = { tone: Tone; sign: Sign; word: string }

const RUN: Record<RunStatus, State> = {
  not_started: { tone: 'grey', sign: 'dashed', word: 'Not started' },
  in_progress: { tone: 'blue', sign: 'running', word: 'Running' },
  paused: { tone: 'grey', sign: 'paused', word: 'Paused' },
  completed: { tone: 'green', sign: 'completed', word: 'Completed' },
  failed: { tone: 'red', sign: 'failed', word: 'Failed' },
  cancelled: { tone: 'grey', sign: 'cancelled', word: 'Cancelled' },
}

const EXECUTION: Record<ExecutionStatus | 'upcoming', State> = {
  upcoming: { tone: 'grey', sign: 'dotted', word: 'Not yet' },
  pending: { tone: 'ochre', sign: 'person', word: 'Waits for a start' },
  waiting_approval_to_start: { tone: 'ochre', sign: 'person', word: 'Waits to start' },
  in_progress: { tone: 'blue', sign: 'running', word: 'Running' },
  waiting_approval_to_complete: { tone: 'ochre', sign: 'person', word: 'Waits for approval' },
  completed: { tone: 'green', sign: 'completed', word: 'Completed' },
  failed: { tone: 'red', sign: 'failed', word: 'Failed' },
  cancelled: { tone: 'grey', sign: 'cancelled', word: 'Cancelled' },
}

const WAITING: Record<WaitingOn, State> = {
  human_form: { tone: 'ochre', sign: 'form', word: 'Needs input' },
  script_input: { tone: 'ochre', sign: 'form', word: 'Needs input' },
  action_approval: { tone: 'ochre', sign: 'person', word: 'Action to approve' },
  question: { tone: 'ochre', sign: 'person', word: 'Asks you' },
  validation_feedback: { tone: 'ochre', sign: 'person', word: 'Check result' },
  escalation: { tone: 'ochre', sign: 'alert', word: 'Escalated' },
  retry_delay: { tone: 'blue', sign: 'retry', word: 'Retries soon' },
  rework: { tone: 'grey', sign: 'rework', word: 'In rework' },
  external_blocker: { tone: 'grey', sign: 'blocked', word: 'Blocked' },
}

const APPROVAL: Record<string, State> = {
  pending: { tone: 'ochre', sign: 'person', word: 'Waits for approval' },
  approved: { tone: 'green', sign: 'completed', word: 'Approved' },
  auto_approved: { tone: 'green', sign: 'rule', word: 'Approved by rule' },
  revision_requested: { tone: 'blue', sign: 'pencil', word: 'Sent back' },
  rejected: { tone: 'red', sign: 'failed', word: 'Rejected' },
  timeout: { tone: 'red', sign: 'timeout', word: 'Timed out' },
  withdrawn: { tone: 'grey', sign: 'cancelled', word: 'Withdrawn' },
}

const YOURS = 'Waiting for you'

export function mayDecide(roles: readonly Role[]): boolean {
  return roles.includes('approver') || roles.includes('admin')
}

export function mayEdit(roles: readonly Role[]): boolean {
  return roles.includes('editor') || roles.includes('admin')
}

/** Forms are open to editors and approvers alike. */
export function mayAnswer(roles: readonly Role[]): boolean {
  return mayDecide(roles) || mayEdit(roles)
}

type RunFacts = Pick<
  RunSummary,
  'status' | 'waiting' | 'to_start' | 'open' | 'pause_requested' | 'metadata' | 'over_budget'
>

/** By default a failure pauses the run: it has failed all the same. */
export function hasFailed(run: Pick<RunSummary, 'status' | 'metadata'>): boolean {
  return run.status === 'failed' || (run.status === 'paused' && run.metadata.failed_checkpoints > 0)
}

/** A waiting run shows that it waits, not that it runs. */
export function runState(run: RunFacts, roles: readonly Role[]): State {
  if (run.status === 'in_progress' && run.waiting > 0) {
    return { tone: 'ochre', sign: 'person', word: mayDecide(roles) ? YOURS : 'Waits for people' }
  }
  if (run.status === 'in_progress' && onlyWaitsForAStart(run)) {
    return { tone: 'ochre', sign: 'person', word: mayEdit(roles) ? YOURS : EXECUTION.pending.word }
  }
  if (run.status === 'in_progress' && run.pause_requested) {
    return { tone: 'blue', sign: 'running', word: 'Pauses after this checkpoint' }
  }
  if (hasFailed(run) && run.status === 'paused') return { ...RUN.failed, word: 'Failed, paused' }
  if (run.status === 'paused' && run.over_budget !== null) return { ...RUN.paused, word: 'Paused at budget' }
  return RUN[run.status]
}

type TrailFacts = Pick<TrailItem, 'status' | 'waiting_on' | 'retry_due_at'>

export function executionState(item: TrailFacts, now?: Date): State {
  if (item.status !== 'in_progress' || item.waiting_on === null) return EXECUTION[item.status]
  const state = WAITING[item.waiting_on]
  if (item.waiting_on !== 'retry_delay' || item.retry_due_at === null || now === undefined) return state
  const seconds = (new Date(item.retry_due_at).getTime() - now.getTime()) / 1000
  return seconds > 0 ? { ...state, word: `Retries in ${duration(Math.ceil(seconds))}` } : state
}

/** The state of a whole run seen from its trail, which also knows who must start what. */
export function runStateOnTrail(
  run: RunFacts & { trail: readonly TrailItem[] },
  roles: readonly Role[],
): State {
  const state = runState(run, roles)
  if (run.status !== 'in_progress' || state.tone === 'ochre') return state
  const open = run.trail.filter((item) => item.status !== 'completed' && item.status !== 'upcoming')
  if (open.some((item) => executionState(item).tone === 'blue')) return state
  const asks = open.map((item) => executionState(item)).find((found) => found.tone === 'ochre')
  return asks === undefined ? state : { ...asks, word: mayEdit(roles) ? YOURS : asks.word }
}

export function approvalState(approval: Pick<Approval, 'status' | 'may_decide'>): State {
  const state = APPROVAL[approval.status] ?? { tone: 'grey', sign: 'dotted', word: approval.status }
  return approval.status === 'pending' && approval.may_decide ? { ...state, word: YOURS } : state
}

const MODES: Record<string, string> = {
  human_only: 'Form',
  function: 'Function',
  script: 'Script',
  agentic: 'Agent',
}

export function modeWord(mode: string): string {
  return MODES[mode] ?? mode
}
