import { answer, asYaml, client } from './client'
import type { Approval, CreateReworkRequest, CreateRollbackRequest, Limits } from './types'

const ofPipeline = (pipeline_id: string) => ({ path: { pipeline_id } })
const ofRun = (run_id: string) => ({ path: { run_id } })
const ofExecution = (execution_id: string) => ({ path: { execution_id } })

export const checkDefinition = (text: string, signal?: AbortSignal) =>
  answer(client.POST('/api/definitions/validate', { ...asYaml, body: text, signal }))
export const createPipeline = (text: string) =>
  answer(client.POST('/api/pipelines', { ...asYaml, body: text }))
export const createFromTemplate = (template: string) =>
  answer(client.POST('/api/pipelines', { body: { template } }))
export const savePipeline = (id: string, text: string, revision: number, force = false) =>
  answer(
    client.PUT('/api/pipelines/{pipeline_id}', {
      ...asYaml,
      body: text,
      params: { ...ofPipeline(id), query: { force }, header: { 'If-Match': `"${revision}"` } },
    }),
  )
export const deletePipeline = (id: string, force = false) =>
  answer(client.DELETE('/api/pipelines/{pipeline_id}', { params: { ...ofPipeline(id), query: { force } } }))
export const restorePipeline = (id: string) =>
  answer(client.POST('/api/pipelines/{pipeline_id}/restore', { params: ofPipeline(id) }))
export const revertPipeline = (id: string, revision: number, force = false) =>
  answer(
    client.POST('/api/pipelines/{pipeline_id}/revert', {
      params: { ...ofPipeline(id), query: { force } },
      body: { revision },
    }),
  )

export const startRun = (order: { pipeline_id: string; input?: unknown; original_prompt?: string }) =>
  answer(client.POST('/api/runs', { body: { start: true, test: false, ...order } }))

export type RunMove = 'start' | 'pause' | 'resume' | 'cancel' | 'retry'
export const moveRun = (id: string, move: RunMove) => {
  const params = ofRun(id)
  switch (move) {
    case 'start':
      return answer(client.POST('/api/runs/{run_id}/start', { params }))
    case 'pause':
      return answer(client.POST('/api/runs/{run_id}/pause', { params }))
    case 'resume':
      return answer(client.POST('/api/runs/{run_id}/resume', { params }))
    case 'cancel':
      return answer(client.POST('/api/runs/{run_id}/cancel', { params }))
    case 'retry':
      return answer(client.POST('/api/runs/{run_id}/retry', { params }))
  }
}

/** All limits of a run's own: what is null is as the definition says. */
export const setBudget = (id: string, body: Limits) =>
  answer(client.PUT('/api/runs/{run_id}/budget', { params: ofRun(id), body }))

/** Names the pass that it leaves, so that asked twice it begins one. */
export const restartRun = (id: string, pass_number: number) =>
  answer(client.POST('/api/runs/{run_id}/restart', { params: ofRun(id), body: { pass_number } }))

export const startExecution = (execution_id: string) =>
  answer(client.POST('/api/executions/start', { body: { execution_id } }))
export const retryExecution = (id: string, attempt: number) =>
  answer(client.POST('/api/executions/{execution_id}/retry', { params: ofExecution(id), body: { attempt } }))
export const cancelExecution = (id: string) =>
  answer(client.POST('/api/executions/{execution_id}/cancel', { params: ofExecution(id) }))
export const submitForm = (id: string, fields: Record<string, unknown>, digest: string | null) =>
  answer(
    client.POST('/api/executions/{execution_id}/submit', {
      params: ofExecution(id),
      body: { fields, digest },
    }),
  )
export const uploadFile = (id: string, file: File) => {
  const form = new FormData()
  form.append('file', file)
  return answer(
    client.POST('/api/executions/{execution_id}/files', {
      params: ofExecution(id),
      body: { file: file.name },
      bodySerializer: () => form,
    }),
  )
}

type Decision =
  | 'approve'
  | 'revise'
  | 'reject'
  | 'refuse'
  | 'decline'
  | 'accept'
  | 'feedback'
  | 'retry'
  | 'restart'
  | 'fail'

/** A decision always names the digest of what was shown. */
export const decide = (
  approval: Pick<Approval, 'approval_id' | 'digest'>,
  decision: string,
  words: { feedback?: string; reason?: string; modified_params?: Record<string, unknown> } = {},
) =>
  answer(
    client.PUT('/api/approvals/{approval_id}/{decision}', {
      params: { path: { approval_id: approval.approval_id, decision: decision as Decision } },
      body: { digest: approval.digest, ...words },
    }),
  )

const ofApproval = (approval_id: string) => ({ path: { approval_id } })

/** What other parameters would make of an action; nothing is decided. */
export const previewModification = (
  id: string,
  modified_params: Record<string, unknown>,
  signal?: AbortSignal,
) =>
  answer(
    client.PUT('/api/approvals/{approval_id}/modify', {
      params: ofApproval(id),
      body: { modified_params },
      signal,
    }),
  )
export const handOver = (id: string, to: string[], reason: string) =>
  answer(client.PUT('/api/approvals/{approval_id}/assign', { params: ofApproval(id), body: { to, reason } }))
export const addComment = (id: string, text: string) =>
  answer(client.POST('/api/approvals/{approval_id}/comments', { params: ofApproval(id), body: { text } }))
export const decideBatch = (
  items: readonly Pick<Approval, 'approval_id' | 'digest'>[],
  decision: 'approve' | 'reject',
  feedback: string,
) =>
  answer(
    client.POST('/api/approvals/batch', {
      body: {
        decision,
        feedback,
        items: items.map(({ approval_id, digest }) => ({ approval_id, digest })),
      },
    }),
  )

export const previewRework = (id: string, checkpoint: string, signal?: AbortSignal) =>
  answer(
    client.POST('/api/executions/{execution_id}/rework/preview', {
      params: ofExecution(id),
      body: { checkpoint, prompt: '', reason: '' },
      signal,
    }),
  )
export const askRework = (id: string, body: CreateReworkRequest) =>
  answer(client.POST('/api/executions/{execution_id}/rework', { params: ofExecution(id), body }))
export const rerunExecution = (id: string) =>
  answer(client.POST('/api/executions/{execution_id}/rerun', { params: ofExecution(id) }))

export const previewRollback = (order: CreateRollbackRequest, signal?: AbortSignal) =>
  answer(client.POST('/api/rollback/preview', { body: order, signal }))
export const rollBack = (order: CreateRollbackRequest) =>
  answer(client.POST('/api/rollback', { body: order }))
export const undoRollback = (rollback_id: string) =>
  answer(client.POST('/api/rollback/{rollback_id}/undo', { params: { path: { rollback_id } } }))

export const repairData = () => answer(client.POST('/api/doctor/repair'))
