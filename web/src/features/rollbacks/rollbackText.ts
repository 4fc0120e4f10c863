import type { Rollback, RollbackPreview } from '~/api/types'
import { formatBytes, pluralize } from '~/lib/formatting'

/** v6 and v7: 13 executions, 18 artifacts (74 kB). */
export function archivedText(preview: Pick<RollbackPreview, 'rolled_back_items' | 'size_bytes'>): string {
  const {
    deleted_runs: runs,
    deleted_checkpoint_executions: executions,
    archived_artifacts: files,
  } = preview.rolled_back_items
  const parts = runs.length > 0 && executions.length === 0 ? [] : [pluralize(executions.length, 'execution')]
  if (files.length > 0)
    parts.push(`${pluralize(files.length, 'artifact')} (${formatBytes(preview.size_bytes)})`)
  const what = parts.join(', ')
  const versions = runs.flatMap((run) => (run.run_version === null ? [] : [`v${run.run_version}`])).sort()
  const archived = [versions.length > 0 ? joinList(versions) : '', what]
    .filter((part) => part !== '')
    .join(': ')
  return `${archived}. You can undo this until something newer completes.`
}

const joinList = (items: string[]) =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** What happens after the rollback. */
export function nextStepText(
  { checkpoint_name: name, start_mode: mode }: RollbackPreview['resumes_with'],
  target: number | null,
): string {
  const run = target === null ? 'The run' : `v${target}`
  const subject = name ?? run
  const numbers = target === null ? '' : ' The next run gets a new version number.'
  switch (mode) {
    case 'immediately':
      return `${subject} starts again immediately.${numbers}`
    case 'needs_approval':
      return `${subject} needs approval to start.${numbers}`
    case 'manual':
      return `${subject} waits for a manual start.${numbers}`
    case 'run_completes':
      return `${run} is completed.${numbers}`
  }
}

/** A rollback in one line. */
export function rollbackSummary(rollback: Rollback): string {
  const { deleted_runs: runs, deleted_checkpoint_executions: executions } = rollback.rolled_back_items
  const to =
    rollback.rollback_type === 'run_level'
      ? `to v${rollback.target_run_version}`
      : rollback.target_checkpoint_position === null || rollback.target_checkpoint_position < 0
        ? 'to the start'
        : `to checkpoint ${rollback.target_checkpoint_position + 1}`
  const archived = runs.length > 0 ? pluralize(runs.length, 'run') : pluralize(executions.length, 'execution')
  return `Rolled back ${to}, ${archived} archived.`
}
