import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { json, text } from './client'
import type {
  Approval,
  Artifact,
  AuditEvent,
  Context,
  Execution,
  LogLine,
  Page,
  Pipeline,
  PipelineSummary,
  Revision,
  Rollback,
  Run,
  RunStatus,
  RunSummary,
  Session,
  Template,
} from './types'

/** Everything that a run's stream touches stands below ['run', id], so that one call refreshes it. */
export const session = () =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => json<Session>('GET', '/session', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const pipelines = (deleted = false) =>
  queryOptions({
    queryKey: ['pipelines', { deleted }],
    queryFn: ({ signal }) =>
      json<Page<PipelineSummary>>('GET', '/pipelines', { query: { deleted, limit: 200 }, signal }),
  })

export const pipeline = (id: string) =>
  queryOptions({
    queryKey: ['pipeline', id],
    queryFn: ({ signal }) => json<Pipeline>('GET', `/pipelines/${id}`, { signal }),
  })

export const pipelineRuns = (id: string, includeArchived = false) =>
  queryOptions({
    queryKey: ['pipeline', id, 'runs', { includeArchived }],
    queryFn: ({ signal }) =>
      json<Page<RunSummary>>('GET', `/pipelines/${id}/runs`, {
        query: { include_archived: includeArchived, include_tests: includeArchived, limit: 200 },
        signal,
      }),
  })

export const definition = (id: string, revision?: number) =>
  queryOptions({
    queryKey: ['pipeline', id, 'definition', revision ?? 'current'],
    queryFn: ({ signal }) => text(`/pipelines/${id}/definition`, { query: { format: 'yaml' }, signal }),
  })

export const history = (id: string) =>
  queryOptions({
    queryKey: ['pipeline', id, 'history'],
    queryFn: ({ signal }) => json<Page<Revision>>('GET', `/pipelines/${id}/history`, { signal }),
  })

export const difference = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['pipeline', id, 'diff', from, to],
    queryFn: ({ signal }) =>
      json<{ changes: unknown[]; text: string }>('GET', `/pipelines/${id}/diff`, {
        query: { from, to },
        signal,
      }),
  })

export const templates = () =>
  queryOptions({
    queryKey: ['templates'],
    queryFn: ({ signal }) => json<Page<Template>>('GET', '/templates', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const runs = (status?: RunStatus, limit = 50) =>
  queryOptions({
    queryKey: ['runs', { status, limit }],
    queryFn: ({ signal }) => json<Page<RunSummary>>('GET', '/runs', { query: { status, limit }, signal }),
  })

export const runPages = (status?: RunStatus) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'pages', { status }],
    queryFn: ({ signal, pageParam }) =>
      json<Page<RunSummary>>('GET', '/runs', { query: { status, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })

export const run = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => json<Run>('GET', `/runs/${id}`, { signal }),
  })

export const runInput = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'input'],
    queryFn: ({ signal }) => text(`/runs/${id}/input`, { signal }),
  })

export const executions = (runId: string) =>
  queryOptions({
    queryKey: ['run', runId, 'executions'],
    queryFn: ({ signal }) =>
      json<Page<Execution>>('GET', `/runs/${runId}/checkpoints`, { query: { limit: 500 }, signal }),
  })

export const execution = (runId: string, id: string) =>
  queryOptions({
    queryKey: ['run', runId, 'execution', id],
    queryFn: ({ signal }) => json<Execution>('GET', `/executions/${id}`, { signal }),
  })

export const logs = (runId: string, id: string) =>
  queryOptions({
    queryKey: ['run', runId, 'logs', id],
    queryFn: ({ signal }) =>
      json<Page<LogLine>>('GET', `/executions/${id}/logs`, { query: { limit: 500 }, signal }),
  })

export const context = (runId: string, id: string) =>
  queryOptions({
    queryKey: ['run', runId, 'context', id],
    queryFn: ({ signal }) => json<Context>('GET', `/executions/${id}/context`, { signal }),
  })

export const artifacts = (runId: string) =>
  queryOptions({
    queryKey: ['run', runId, 'artifacts'],
    queryFn: ({ signal }) =>
      json<Page<Artifact>>('GET', '/artifacts/list', { query: { run_id: runId, limit: 500 }, signal }),
  })

/** Contents never change under their record: what was read once is kept. */
export const content = (recordId: string, checksum: string) =>
  queryOptions({
    queryKey: ['content', recordId, checksum],
    queryFn: ({ signal }) => text(`/artifacts/${recordId}/content`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const approvals = (status = 'pending') =>
  queryOptions({
    queryKey: ['approvals', { status }],
    queryFn: ({ signal }) =>
      json<Page<Approval>>('GET', '/approvals', { query: { status, sort: 'age', limit: 200 }, signal }),
  })

export const rollbacks = (runId: string) =>
  queryOptions({
    queryKey: ['run', runId, 'rollbacks'],
    queryFn: ({ signal }) => json<Page<Rollback>>('GET', '/rollback', { query: { run_id: runId }, signal }),
  })

export type EventFilter = {
  pipeline_id?: string
  run_id?: string
  execution_id?: string
  event_type?: string
  since?: string
  until?: string
}

export const events = (filter: EventFilter) =>
  infiniteQueryOptions({
    queryKey: filter.run_id === undefined ? ['events', filter] : ['run', filter.run_id, 'events', filter],
    queryFn: ({ signal, pageParam }) =>
      json<Page<AuditEvent>>('GET', '/events', {
        query: { ...filter, limit: 50, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
