import type { Artifact, Run } from '~/api/types'

type ArtifactContent = Pick<Artifact, 'artifact_name' | 'checksum'>

/** Describes the differences between two sets of artifacts. */
export function changedArtifacts(
  before: readonly ArtifactContent[],
  after: readonly ArtifactContent[],
): string[] {
  const earlier = new Map(before.map((item) => [item.artifact_name, item.checksum]))
  const later = new Map(after.map((item) => [item.artifact_name, item.checksum]))
  const lines: string[] = []
  for (const [name, checksum] of later) {
    if (!earlier.has(name)) lines.push(`${name} added`)
    else if (earlier.get(name) !== checksum) lines.push(`${name} changed`)
  }
  for (const name of earlier.keys()) if (!later.has(name)) lines.push(`${name} removed`)
  return lines
}

type ArtifactIdentity = Pick<Artifact, 'checkpoint_id' | 'artifact_name' | 'format' | 'checksum'>

/** The same artifact of an earlier version. */
export function previousVersionOf<T extends ArtifactIdentity>(
  artifact: ArtifactIdentity,
  earlier: readonly T[] | undefined,
): T | undefined {
  return earlier?.findLast(
    (one) =>
      one.checkpoint_id === artifact.checkpoint_id &&
      one.artifact_name === artifact.artifact_name &&
      one.format === artifact.format,
  )
}

export function changeLabel(
  artifact: ArtifactIdentity,
  earlier: ArtifactIdentity | undefined,
  version: number,
): string {
  if (earlier === undefined) return 'new'
  return earlier.checksum === artifact.checksum ? `unchanged since v${version}` : `changed since v${version}`
}

/** The run that another run is based on. */
export function previousRun(run: Pick<Run, 'previous_run_id' | 'extends_from_run_version'> | undefined) {
  if (run === undefined || run.previous_run_id === null || run.extends_from_run_version === null)
    return undefined
  return { runId: run.previous_run_id, version: run.extends_from_run_version }
}
