import type { Run } from '~/api/types'
import { pluralize } from '~/lib/formatting'

const namesOf = (items: readonly { name: string }[]) => items.map((item) => item.name).join(', ')

/** The effects of a restart in words. Null means no such effect. */
export function restartText(run: Pick<Run, 'checkpoints' | 'pending_approvals' | 'pass_number' | 'status'>): {
  kept: string
  stopped: string | null
  withdrawn: string | null
  starts: string
} {
  const completed = run.checkpoints.filter((item) => item.status === 'completed')
  const artifacts = completed.reduce((sum, item) => sum + item.artifact_count, 0)
  const open = run.checkpoints.filter(
    (item) => !['completed', 'upcoming', 'failed', 'cancelled'].includes(item.status),
  )
  const firstStage = run.checkpoints.filter((item) => item.stage === run.checkpoints[0]?.stage)
  const needingApproval = firstStage.filter((item) => item.requires_approval_to_start)
  const starting = firstStage.filter((item) => !item.requires_approval_to_start)
  return {
    kept:
      completed.length === 0
        ? `Nothing is completed in pass ${run.pass_number} yet.`
        : `${pluralize(completed.length, 'checkpoint')} and ${pluralize(artifacts, 'artifact')} of pass ${run.pass_number}. They stay available.`,
    stopped: open.length === 0 ? null : namesOf(open),
    withdrawn:
      run.pending_approvals.length === 0
        ? null
        : `${pluralize(run.pending_approvals.length, 'pending approval')}: ${run.pending_approvals.map((item) => item.checkpoint_name).join(', ')}`,
    starts: [
      starting.length > 0 && `${namesOf(starting)} ${starting.length === 1 ? 'starts' : 'start'} again.`,
      needingApproval.length > 0 &&
        `${namesOf(needingApproval)} ${needingApproval.length === 1 ? 'needs' : 'need'} approval to start.`,
    ]
      .filter(Boolean)
      .join(' '),
  }
}
