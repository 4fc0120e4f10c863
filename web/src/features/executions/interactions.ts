import type { Execution } from '~/api/types'

const DECISION_VERBS: Record<string, string> = {
  answer: 'filled in the form',
  decline: 'declined to answer',
  approve: 'approved it',
  revise: 'asked for a revision',
  reject: 'rejected it',
  refuse: 'did not let it start',
  accept: 'accepted the result',
  feedback: 'gave feedback',
  retry: 'had it tried again',
  restart: 'had the run restarted',
  fail: 'let it fail',
}

/** What a person did, as the end of a sentence that begins with the name. */
export function interactionText({
  type,
  system_response: decision,
}: Execution['human_interactions'][number]): string {
  if (decision === 'approve' && type === 'approval_to_start') return 'let it start'
  return DECISION_VERBS[decision] ?? type.replaceAll('_', ' ')
}
