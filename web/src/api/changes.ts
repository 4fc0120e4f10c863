import { json } from './client'
import type {
  Approval,
  Execution,
  Pipeline,
  Rollback,
  RollbackPreview,
  RollbackRequest,
  Run,
  Session,
  Validation,
} from './types'

export const signIn = (token: string) => json<Session>('POST', '/session', { body: { token } })
export const signOut = () => json<void>('DELETE', '/session')

const yaml = (text: string) => ({ text, type: 'application/yaml' })

export const checkDefinition = (text: string, signal?: AbortSignal) =>
  json<Validation>('POST', '/definitions/validate', { raw: yaml(text), signal })
export const createPipeline = (text: string) => json<Pipeline>('POST', '/pipelines', { raw: yaml(text) })
export const createFromTemplate = (name: string) =>
  json<Pipeline>('POST', '/pipelines', { body: { template: name } })
export const savePipeline = (id: string, text: string, revision: number, force = false) =>
  json<Pipeline>('PUT', `/pipelines/${id}`, {
    raw: yaml(text),
    query: { force: force || undefined },
    headers: { 'If-Match': `"${revision}"` },
  })
export const deletePipeline = (id: string, force = false) =>
  json<{ pipeline_id: string; archive_location: string }>('DELETE', `/pipelines/${id}`, {
    query: { force: force || undefined },
  })
export const restorePipeline = (id: string) => json<Pipeline>('POST', `/pipelines/${id}/restore`)
export const revertPipeline = (id: string, revision: number) =>
  json<Pipeline>('POST', `/pipelines/${id}/revert`, { body: { revision } })

export const startRun = (order: { pipeline_id: string; input?: unknown; original_prompt?: string }) =>
  json<Run>('POST', '/runs', { body: order })
export type RunMove = 'start' | 'pause' | 'resume' | 'cancel' | 'retry'
export const moveRun = (id: string, move: RunMove) => json<Run>('POST', `/runs/${id}/${move}`)

export const startExecution = (id: string) =>
  json<Execution>('POST', '/executions/start', { body: { execution_id: id } })
export const retryExecution = (id: string, attempt: number) =>
  json<Execution>('POST', `/executions/${id}/retry`, { body: { attempt } })
export const cancelExecution = (id: string) => json<Execution>('POST', `/executions/${id}/cancel`)
export const submitForm = (id: string, fields: Record<string, unknown>, digest: string | null) =>
  json<Execution>('POST', `/executions/${id}/submit`, { body: { fields, digest: digest ?? undefined } })
export const uploadFile = (id: string, file: File) => {
  const form = new FormData()
  form.append('file', file)
  return json<{ upload_id: string; filename: string; size_bytes: number; checksum: string }>(
    'POST',
    `/executions/${id}/files`,
    { raw: form },
  )
}

/** A decision always names the digest of what was shown. */
export const decide = (
  approval: Pick<Approval, 'approval_id' | 'digest'>,
  decision: string,
  words: { feedback?: string; reason?: string } = {},
) =>
  json<Approval>('PUT', `/approvals/${approval.approval_id}/${decision}`, {
    body: { digest: approval.digest, ...words },
  })

export const previewRollback = (order: RollbackRequest, signal?: AbortSignal) =>
  json<RollbackPreview>('POST', '/rollback/preview', { body: order, signal })
export const rollBack = (order: RollbackRequest) => json<Rollback>('POST', '/rollback', { body: order })
export const undoRollback = (id: string) => json<Rollback>('POST', `/rollback/${id}/undo`)
