import type { Execution } from '~/api/types'

const DECISION_VERBS: Record<string, string> = {
  answer: 'submitted the form',
  decline: 'declined to answer',
  approve: 'approved',
  revise: 'requested a revision',
  reject: 'rejected',
  refuse: 'postponed the start',
  accept: 'accepted the result',
  feedback: 'gave feedback',
  retry: 'requested a retry',
  restart: 'restarted the run',
  fail: 'failed the execution',
}

/** What a person did, to follow their name. */
export function interactionText({
  type,
  system_response: decision,
}: Execution['human_interactions'][number]): string {
  if (decision === 'approve' && type === 'approval_to_start') return 'approved the start'
  return DECISION_VERBS[decision] ?? type.replaceAll('_', ' ')
}
