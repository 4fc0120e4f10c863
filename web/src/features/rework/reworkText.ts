import type { ReworkItem, ReworkPreview } from '~/api/types'

/** How the checkpoint starts again, and what happens to the requester. */
export function nextStepText(preview: ReworkPreview): string {
  const { checkpoint_name: name, requester_checkpoint_name: requester, start_mode: mode } = preview
  const start = {
    immediately: `${name} starts again immediately.`,
    needs_approval: `${name} needs approval to start again.`,
    on_resume: `${name} starts again when the run is resumed.`,
  }[mode]
  return `${start} ${preview.requester_waits ? `${requester} waits, then continues with the new artifacts.` : `${requester} does not change.`}`
}

export function replacedText(preview: ReworkPreview): string {
  const files = preview.replaced.length
  if (files === 0) return 'There are no artifacts to replace.'
  return files === 1
    ? '1 artifact is replaced and stays available as superseded.'
    : `${files} artifacts are replaced and stay available as superseded.`
}

export function staleText(preview: ReworkPreview): string {
  const names = preview.stale_executions.map(({ checkpoint_name, run_id, run_version }) =>
    run_id === preview.run_id ? checkpoint_name : `${checkpoint_name} (v${run_version})`,
  )
  return names.length === 1
    ? `${names[0]}. It used the replaced artifacts. You can rerun it.`
    : `${names.join(', ')}. They used the replaced artifacts. You can rerun them one by one.`
}

/** The status of a rework in a few words. */
export function statusText({ status, archived_by }: Pick<ReworkItem, 'status' | 'archived_by'>): string {
  if (archived_by !== null) return 'removed by a rollback'
  switch (status) {
    case 'completed':
      return 'completed'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'cancelled'
    case 'waiting_approval_to_start':
      return 'needs approval to start'
    case 'waiting_approval_to_complete':
      return 'waiting for approval'
    default:
      return 'in progress'
  }
}
