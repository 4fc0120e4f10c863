import type { ReworkItem, ReworkPreview } from '~/api/types'

/** How the checkpoint begins again, and what becomes of who asked. */
export function nextStepText(preview: ReworkPreview): string {
  const { checkpoint_name: name, asker_checkpoint_name: requester, begins } = preview
  const start = {
    'at once': `${name} starts again at once, and is approved like any other.`,
    'asks first': `${name} asks for approval before it starts again.`,
    'when the run is resumed': `${name} starts again when the run is resumed.`,
  }[begins]
  return `${start} ${preview.asker_waits ? `${requester} waits, then goes on with the new artifacts.` : `${requester} stays as it is.`}`
}

export function replacedText(preview: ReworkPreview): string {
  const files = preview.replaced.length
  if (files === 0) return 'It left no artifacts. What it makes now stands.'
  return files === 1
    ? '1 artifact gives way to a new one and stays readable as superseded.'
    : `${files} artifacts give way to new ones and stay readable as superseded.`
}

export function staleText(preview: ReworkPreview): string {
  const names = preview.becomes_stale.map(({ checkpoint_name, run_id, run_version }) =>
    run_id === preview.run_id ? checkpoint_name : `${checkpoint_name} of v${run_version}`,
  )
  return names.length === 1
    ? `${names[0]}. It was made from what is replaced, and can be done again.`
    : `${names.join(', ')}. They were made from what is replaced, and can be done again one by one.`
}

/** How a rework came out, in one line. */
export function statusText({ status, archived_by }: Pick<ReworkItem, 'status' | 'archived_by'>): string {
  if (archived_by !== null) return 'taken away by a rollback'
  switch (status) {
    case 'completed':
      return 'done'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'cancelled'
    case 'waiting_approval_to_start':
      return 'asks before it starts'
    case 'waiting_approval_to_complete':
      return 'waits for approval'
    default:
      return 'under way'
  }
}
