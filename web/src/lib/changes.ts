import type { Artifact } from '~/api/types'

type Facts = Pick<Artifact, 'artifact_name' | 'checksum'>

/** Names what is different between two sets of artifacts. */
export function changedArtifacts(before: readonly Facts[], after: readonly Facts[]): string[] {
  const earlier = new Map(before.map((item) => [item.artifact_name, item.checksum]))
  const later = new Map(after.map((item) => [item.artifact_name, item.checksum]))
  const lines: string[] = []
  for (const [name, checksum] of later) {
    if (!earlier.has(name)) lines.push(`${name} is new`)
    else if (earlier.get(name) !== checksum) lines.push(`${name} has other content`)
  }
  for (const name of earlier.keys()) if (!later.has(name)) lines.push(`${name} is gone`)
  return lines
}
