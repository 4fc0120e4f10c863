import type {
  Approval,
  ExecutionStatus,
  Role,
  RunCheckpoint,
  RunStatus,
  RunSummary,
  WaitingOn,
} from '~/api/types'
import { formatDuration } from './durations'
import { needsManualStart } from './waiting'

/** Colours are used for states only. Ochre means that a person is needed. */
export type Tone = 'grey' | 'blue' | 'green' | 'red' | 'ochre'
export type StateIconName =
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
export type State = { tone: Tone; icon: StateIconName; label: string }

const RUN: Record<RunStatus, State> = {
  not_started: { tone: 'grey', icon: 'dashed', label: 'Not started' },
  in_progress: { tone: 'blue', icon: 'running', label: 'Running' },
  paused: { tone: 'grey', icon: 'paused', label: 'Paused' },
  completed: { tone: 'green', icon: 'completed', label: 'Completed' },
  failed: { tone: 'red', icon: 'failed', label: 'Failed' },
  cancelled: { tone: 'grey', icon: 'cancelled', label: 'Cancelled' },
}

const EXECUTION: Record<ExecutionStatus | 'upcoming', State> = {
  upcoming: { tone: 'grey', icon: 'dotted', label: 'Upcoming' },
  pending: { tone: 'ochre', icon: 'person', label: 'Waiting for manual start' },
  waiting_approval_to_start: { tone: 'ochre', icon: 'person', label: 'Waiting for start approval' },
  in_progress: { tone: 'blue', icon: 'running', label: 'Running' },
  waiting_approval_to_complete: { tone: 'ochre', icon: 'person', label: 'Waiting for approval' },
  completed: { tone: 'green', icon: 'completed', label: 'Completed' },
  failed: { tone: 'red', icon: 'failed', label: 'Failed' },
  cancelled: { tone: 'grey', icon: 'cancelled', label: 'Cancelled' },
}

const WAITING: Record<WaitingOn, State> = {
  human_form: { tone: 'ochre', icon: 'form', label: 'Needs input' },
  script_input: { tone: 'ochre', icon: 'form', label: 'Needs input' },
  action_approval: { tone: 'ochre', icon: 'person', label: 'Waiting for action approval' },
  question: { tone: 'ochre', icon: 'person', label: 'Waiting for an answer' },
  validation_feedback: { tone: 'ochre', icon: 'person', label: 'Waiting for feedback' },
  escalation: { tone: 'ochre', icon: 'alert', label: 'Escalated' },
  retry_delay: { tone: 'blue', icon: 'retry', label: 'Retrying soon' },
  rework: { tone: 'grey', icon: 'rework', label: 'Waiting for rework' },
  external_blocker: { tone: 'grey', icon: 'blocked', label: 'Blocked' },
}

const APPROVAL: Record<string, State> = {
  pending: { tone: 'ochre', icon: 'person', label: 'Waiting for approval' },
  approved: { tone: 'green', icon: 'completed', label: 'Approved' },
  auto_approved: { tone: 'green', icon: 'rule', label: 'Approved by rule' },
  revision_requested: { tone: 'blue', icon: 'pencil', label: 'Revision requested' },
  rejected: { tone: 'red', icon: 'failed', label: 'Rejected' },
  timeout: { tone: 'red', icon: 'timeout', label: 'Timed out' },
  withdrawn: { tone: 'grey', icon: 'cancelled', label: 'Withdrawn' },
}

const YOURS = 'Waiting for you'

export function canDecide(roles: readonly Role[]): boolean {
  return roles.includes('approver') || roles.includes('admin')
}

export function canEdit(roles: readonly Role[]): boolean {
  return roles.includes('editor') || roles.includes('admin')
}

/** Editors and approvers can submit forms. */
export function canAnswer(roles: readonly Role[]): boolean {
  return canDecide(roles) || canEdit(roles)
}

type RunFacts = Pick<
  RunSummary,
  | 'status'
  | 'pending_approval_count'
  | 'pending_start_count'
  | 'open_executions'
  | 'pause_requested'
  | 'metadata'
  | 'over_budget'
>

/** By default a failure pauses the run, which counts as failed. */
export function hasFailed(run: Pick<RunSummary, 'status' | 'metadata'>): boolean {
  return run.status === 'failed' || (run.status === 'paused' && run.metadata.failed_checkpoints > 0)
}

/** A run that waits for a person is shown as waiting, not as running. */
export function runState(run: RunFacts, roles: readonly Role[]): State {
  if (run.status === 'in_progress' && run.pending_approval_count > 0) {
    return { tone: 'ochre', icon: 'person', label: canDecide(roles) ? YOURS : 'Waiting for others' }
  }
  if (run.status === 'in_progress' && needsManualStart(run)) {
    return { tone: 'ochre', icon: 'person', label: canEdit(roles) ? YOURS : EXECUTION.pending.label }
  }
  if (run.status === 'in_progress' && run.pause_requested) {
    return { tone: 'blue', icon: 'running', label: 'Pausing after this checkpoint' }
  }
  if (hasFailed(run) && run.status === 'paused') return { ...RUN.failed, label: 'Failed (paused)' }
  if (run.status === 'paused' && run.over_budget !== null) return { ...RUN.paused, label: 'Budget exhausted' }
  return RUN[run.status]
}

type CheckpointFacts = Pick<RunCheckpoint, 'status' | 'waiting_on' | 'retry_due_at'>

export function executionState(item: CheckpointFacts, now?: Date): State {
  if (item.status !== 'in_progress' || item.waiting_on === null) return EXECUTION[item.status]
  const state = WAITING[item.waiting_on]
  if (item.waiting_on !== 'retry_delay' || item.retry_due_at === null || now === undefined) return state
  const seconds = (new Date(item.retry_due_at).getTime() - now.getTime()) / 1000
  return seconds > 0 ? { ...state, label: `Retrying in ${formatDuration(Math.ceil(seconds))}` } : state
}

/** The state of a run, including manual starts of its checkpoints. */
export function runStateFromCheckpoints(
  run: RunFacts & { checkpoints: readonly RunCheckpoint[] },
  roles: readonly Role[],
): State {
  const state = runState(run, roles)
  if (run.status !== 'in_progress' || state.tone === 'ochre') return state
  const open = run.checkpoints.filter((item) => item.status !== 'completed' && item.status !== 'upcoming')
  if (open.some((item) => executionState(item).tone === 'blue')) return state
  const pendingState = open.map((item) => executionState(item)).find((match) => match.tone === 'ochre')
  return pendingState === undefined
    ? state
    : { ...pendingState, label: canEdit(roles) ? YOURS : pendingState.label }
}

export function approvalState(approval: Pick<Approval, 'status' | 'can_decide'>): State {
  const state = APPROVAL[approval.status] ?? { tone: 'grey', icon: 'dotted', label: approval.status }
  return approval.status === 'pending' && approval.can_decide ? { ...state, label: YOURS } : state
}

const MODES: Record<string, string> = {
  human_only: 'Form',
  function: 'Function',
  script: 'Script',
  agentic: 'Agent',
}

export function modeLabel(mode: string): string {
  return MODES[mode] ?? mode
}
