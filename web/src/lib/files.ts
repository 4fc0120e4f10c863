import type { Artifact } from '~/api/types'

/** The file name with its extension. */
export function fileName(artifact: Pick<Artifact, 'artifact_name' | 'format'>): string {
  const extension = `.${artifact.format}`
  return artifact.artifact_name.endsWith(extension) || artifact.format === ''
    ? artifact.artifact_name
    : artifact.artifact_name + extension
}

export function downloadUrl(artifact: Pick<Artifact, 'artifact_record_id'>): string {
  return `/api/artifacts/${artifact.artifact_record_id}/download`
}

const CONTENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"

/** Adds a content security policy to an untrusted page, in addition to the sandbox of the frame. */
export function withContentPolicy(html: string): string {
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">${html}`
}
