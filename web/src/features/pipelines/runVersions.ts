import type { RunSummary } from '~/api/types'

export type NextVersion = { next: number; extends: number | null }

/** The version of the next run, which is never reused, and the latest active version that it is based on. */
export function nextVersion(
  runs: readonly Pick<RunSummary, 'run_version' | 'archived_by' | 'pipeline_definition_version'>[],
  definition: number,
): NextVersion {
  const sameDefinition = runs.filter(
    (run) => run.pipeline_definition_version === definition && run.run_version !== null,
  )
  const numbers = sameDefinition.map((run) => run.run_version ?? 0)
  const active = sameDefinition.filter((run) => run.archived_by === null).map((run) => run.run_version ?? 0)
  return { next: Math.max(0, ...numbers) + 1, extends: active.length === 0 ? null : Math.max(...active) }
}

export function startLabel({ next, extends: extended }: NextVersion): string {
  return extended === null ? `Start v${next}` : `Start v${next} (based on v${extended})`
}
