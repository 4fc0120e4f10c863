import type { RunSummary } from '~/api/types'

export type Next = { next: number; extends: number | null }

/** The version that the next run takes, numbers are never used twice, and the one it extends: the highest that still stands. */
export function nextVersion(
  runs: readonly Pick<RunSummary, 'run_version' | 'archived_by' | 'pipeline_definition_version'>[],
  definition: number,
): Next {
  const own = runs.filter((run) => run.pipeline_definition_version === definition && run.run_version !== null)
  const numbers = own.map((run) => run.run_version ?? 0)
  const standing = own.filter((run) => run.archived_by === null).map((run) => run.run_version ?? 0)
  return { next: Math.max(0, ...numbers) + 1, extends: standing.length === 0 ? null : Math.max(...standing) }
}

export function startWords({ next, extends: extended }: Next): string {
  return extended === null ? `Start v${next}` : `Start v${next}, extends v${extended}`
}
