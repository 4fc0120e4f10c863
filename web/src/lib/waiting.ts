import type { OpenExecution, RunSummary, WaitingOn } from '~/api/types'
import { formatDuration } from './durations'
import { progressText } from './progress'

const WAITING_TEXT: Record<WaitingOn, string> = {
  human_form: 'is waiting for its form',
  script_input: 'is waiting for input',
  action_approval: 'is waiting for an action approval',
  validation_feedback: 'is waiting for feedback on its result',
  question: 'is waiting for an answer',
  escalation: 'is waiting for a decision on how to continue',
  rework: 'is waiting for the rework of an earlier checkpoint',
  retry_delay: 'will retry soon',
  external_blocker: 'is blocked by an external dependency',
}

type Facts = {
  status: OpenExecution['status'] | 'upcoming'
  waiting_on: WaitingOn | null
  retry_due_at: string | null
}

/** What an execution waits for, to follow its name. Null if it does not wait. */
export function waitingText({ status, waiting_on, retry_due_at }: Facts, now?: Date): string | null {
  switch (status) {
    case 'pending':
      return 'is waiting for a manual start'
    case 'waiting_approval_to_start':
      return 'is waiting for approval to start'
    case 'waiting_approval_to_complete':
      return 'is waiting for approval of its result'
    case 'in_progress':
      break
    default:
      return null
  }
  if (waiting_on === null) return null
  if (waiting_on === 'retry_delay' && retry_due_at !== null && now !== undefined) {
    const seconds = (new Date(retry_due_at).getTime() - now.getTime()) / 1000
    if (seconds > 0) return `will retry in ${formatDuration(Math.ceil(seconds))}`
  }
  return WAITING_TEXT[waiting_on]
}

const isRunning = (item: OpenExecution) => item.status === 'in_progress' && item.waiting_on === null

/** Whether a run can only continue with a manual start. */
export function needsManualStart(
  run: Pick<RunSummary, 'pending_start_count' | 'open_executions' | 'pending_approval_count'>,
): boolean {
  return (
    run.pending_start_count > 0 && run.pending_approval_count === 0 && !run.open_executions.some(isRunning)
  )
}

/** The activity of a run in one line: “Report: 45%, reading rows”. */
export function activityText(run: Pick<RunSummary, 'open_executions'>, now?: Date): string {
  const first =
    run.open_executions.find((item) => item.progress !== null) ??
    run.open_executions.find(isRunning) ??
    run.open_executions[0]
  if (first === undefined) return ''
  const progress = first.progress === null ? '' : progressText(first.progress)
  const waiting = waitingText(first, now)
  const text = progress !== '' ? `: ${progress}` : ` ${waiting ?? 'is running'}`
  const more = run.open_executions.length > 1 ? `, and ${run.open_executions.length - 1} more` : ''
  return `${first.checkpoint_name}${text}${more}`
}

type Urgency = { deadline: string | null; since: string }

/** Most urgent first: nearest deadline, then longest wait. The server uses the same order. */
export function byUrgency(a: Urgency, b: Urgency): number {
  if (a.deadline !== b.deadline) {
    if (a.deadline === null) return 1
    return b.deadline === null ? -1 : a.deadline.localeCompare(b.deadline)
  }
  return a.since.localeCompare(b.since)
}
