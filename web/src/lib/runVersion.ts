import type { RunSummary } from '~/api/types'

/** v7, or “test” for a run without a version. */
export function versionLabel(run: Pick<RunSummary, 'run_version'>): string {
  return run.run_version === null ? 'test' : `v${run.run_version}`
}
