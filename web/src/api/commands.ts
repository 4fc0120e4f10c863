import { asYaml, client, unwrap } from './client'
import type {
  Approval,
  BudgetLimits,
  CreateReworkRequest,
  CreateRollbackRequest,
  DecideRequest,
} from './types'

const pipelinePath = (pipeline_id: string) => ({ path: { pipeline_id } })
const runPath = (run_id: string) => ({ path: { run_id } })
const executionPath = (execution_id: string) => ({ path: { execution_id } })

export const checkDefinition = (text: string, signal?: AbortSignal) =>
  unwrap(client.POST('/api/definitions/validate', { ...asYaml, body: text, signal }))
export const createPipeline = (text: string) =>
  unwrap(client.POST('/api/pipelines', { ...asYaml, body: text }))
export const createFromTemplate = (template: string) =>
  unwrap(client.POST('/api/pipelines', { body: { template } }))
export const savePipeline = (id: string, text: string, revision: number, force = false) =>
  unwrap(
    client.PUT('/api/pipelines/{pipeline_id}', {
      ...asYaml,
      body: text,
      params: { ...pipelinePath(id), query: { force }, header: { 'If-Match': `"${revision}"` } },
    }),
  )
export const deletePipeline = (id: string, force = false) =>
  unwrap(client.DELETE('/api/pipelines/{pipeline_id}', { params: { ...pipelinePath(id), query: { force } } }))
export const restorePipeline = (id: string) =>
  unwrap(client.POST('/api/pipelines/{pipeline_id}/restore', { params: pipelinePath(id) }))
export const revertPipeline = (id: string, revision: number, force = false) =>
  unwrap(
    client.POST('/api/pipelines/{pipeline_id}/revert', {
      params: { ...pipelinePath(id), query: { force } },
      body: { revision },
    }),
  )

export const startRun = (request: { pipeline_id: string; input?: unknown; original_prompt?: string }) =>
  unwrap(client.POST('/api/runs', { body: { start: true, test: false, ...request } }))

export type RunCommand = 'start' | 'pause' | 'resume' | 'cancel' | 'retry'
export const sendRunCommand = (id: string, command: RunCommand) => {
  const params = runPath(id)
  switch (command) {
    case 'start':
      return unwrap(client.POST('/api/runs/{run_id}/start', { params }))
    case 'pause':
      return unwrap(client.POST('/api/runs/{run_id}/pause', { params }))
    case 'resume':
      return unwrap(client.POST('/api/runs/{run_id}/resume', { params }))
    case 'cancel':
      return unwrap(client.POST('/api/runs/{run_id}/cancel', { params }))
    case 'retry':
      return unwrap(client.POST('/api/runs/{run_id}/retry', { params }))
  }
}

/** Sets all limits of a run. Null means the limit of the definition. */
export const setBudget = (id: string, body: BudgetLimits) =>
  unwrap(client.PUT('/api/runs/{run_id}/budget', { params: runPath(id), body }))

/** Sends the current pass number, so that a repeated request starts only one new pass. */
export const restartRun = (id: string, pass_number: number) =>
  unwrap(client.POST('/api/runs/{run_id}/restart', { params: runPath(id), body: { pass_number } }))

export const startExecution = (execution_id: string) =>
  unwrap(client.POST('/api/executions/start', { body: { execution_id } }))
export const retryExecution = (id: string, attempt_number: number) =>
  unwrap(
    client.POST('/api/executions/{execution_id}/retry', {
      params: executionPath(id),
      body: { attempt_number },
    }),
  )
export const cancelExecution = (id: string) =>
  unwrap(client.POST('/api/executions/{execution_id}/cancel', { params: executionPath(id) }))
export const submitForm = (id: string, fields: Record<string, unknown>, digest: string | null) =>
  unwrap(
    client.POST('/api/executions/{execution_id}/submit', {
      params: executionPath(id),
      body: { fields, digest },
    }),
  )
export const uploadFile = (id: string, file: File) => {
  const form = new FormData()
  form.append('file', file)
  return unwrap(
    client.POST('/api/executions/{execution_id}/files', {
      params: executionPath(id),
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
  | 'happened'
  | 'did_not_happen'
  | 'send_again'
  | 'give_up'

/** A decision always includes the digest of the content that was shown. */
export const decide = (
  approval: Pick<Approval, 'approval_id' | 'digest'>,
  decision: string,
  input: Omit<DecideRequest, 'digest'> = {},
) =>
  unwrap(
    client.PUT('/api/approvals/{approval_id}/{decision}', {
      params: { path: { approval_id: approval.approval_id, decision: decision as Decision } },
      body: { digest: approval.digest, ...input },
    }),
  )

const approvalPath = (approval_id: string) => ({ path: { approval_id } })

/** Previews changed parameters without deciding. */
export const previewModification = (
  id: string,
  modified_params: Record<string, unknown>,
  signal?: AbortSignal,
) =>
  unwrap(
    client.PUT('/api/approvals/{approval_id}/modify', {
      params: approvalPath(id),
      body: { modified_params },
      signal,
    }),
  )
export const reassign = (id: string, assigned_to: string[], reason: string) =>
  unwrap(
    client.PUT('/api/approvals/{approval_id}/assign', {
      params: approvalPath(id),
      body: { assigned_to, reason },
    }),
  )
export const addComment = (id: string, text: string) =>
  unwrap(client.POST('/api/approvals/{approval_id}/comments', { params: approvalPath(id), body: { text } }))
export const decideBatch = (
  items: readonly Pick<Approval, 'approval_id' | 'digest'>[],
  decision: 'approve' | 'reject',
  feedback: string,
) =>
  unwrap(
    client.POST('/api/approvals/batch', {
      body: {
        decision,
        feedback,
        items: items.map(({ approval_id, digest }) => ({ approval_id, digest })),
      },
    }),
  )

export const previewRework = (id: string, checkpoint: string, signal?: AbortSignal) =>
  unwrap(
    client.POST('/api/executions/{execution_id}/rework/preview', {
      params: executionPath(id),
      body: { checkpoint, prompt: '', reason: '' },
      signal,
    }),
  )
export const createRework = (id: string, body: CreateReworkRequest) =>
  unwrap(client.POST('/api/executions/{execution_id}/rework', { params: executionPath(id), body }))
export const rerunExecution = (id: string) =>
  unwrap(client.POST('/api/executions/{execution_id}/rerun', { params: executionPath(id) }))

export const previewRollback = (request: CreateRollbackRequest, signal?: AbortSignal) =>
  unwrap(client.POST('/api/rollback/preview', { body: request, signal }))
export const createRollback = (request: CreateRollbackRequest) =>
  unwrap(client.POST('/api/rollback', { body: request }))
export const undoRollback = (rollback_id: string) =>
  unwrap(client.POST('/api/rollback/{rollback_id}/undo', { params: { path: { rollback_id } } }))

export const repairData = () => unwrap(client.POST('/api/doctor/repair'))
