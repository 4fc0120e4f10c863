import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { LogLevel } from '~/lib/logs'
import { client, unwrap } from './client'
import type { RunStatus } from './types'

const FOREVER = Number.POSITIVE_INFINITY

export const session = () =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/session', { signal })),
    staleTime: FOREVER,
  })

export const pipelines = (deleted = false) =>
  queryOptions({
    queryKey: ['pipelines', { deleted }],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/pipelines', { params: { query: { deleted, limit: 500 } }, signal })),
  })

export const pipeline = (pipeline_id: string) =>
  queryOptions({
    queryKey: ['pipeline', pipeline_id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/pipelines/{pipeline_id}', { params: { path: { pipeline_id } }, signal })),
  })

/** The runs of the current definition. `all` includes rolled back runs and test runs. */
export const pipelineRuns = (pipeline_id: string, all = false) =>
  queryOptions({
    queryKey: ['pipeline', pipeline_id, 'runs', { all }],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/pipelines/{pipeline_id}/runs', {
          params: { path: { pipeline_id }, query: { include_archived: all, include_tests: all, limit: 200 } },
          signal,
        }),
      ),
  })

export const definition = (pipeline_id: string, revision: number) =>
  queryOptions({
    queryKey: ['pipeline', pipeline_id, 'definition', revision],
    queryFn: async ({ signal }) =>
      String(
        await unwrap(
          client.GET('/api/pipelines/{pipeline_id}/definition', {
            params: { path: { pipeline_id }, query: { format: 'yaml' } },
            parseAs: 'text',
            signal,
          }),
        ),
      ),
  })

export const definitionHistory = (pipeline_id: string) =>
  queryOptions({
    queryKey: ['pipeline', pipeline_id, 'history'],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/pipelines/{pipeline_id}/history', {
          params: { path: { pipeline_id }, query: { limit: 200 } },
          signal,
        }),
      ),
  })

export const definitionDiff = (pipeline_id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['pipeline', pipeline_id, 'diff', from, to],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/pipelines/{pipeline_id}/diff', {
          params: { path: { pipeline_id }, query: { from, to } },
          signal,
        }),
      ),
  })

export const templates = () =>
  queryOptions({
    queryKey: ['templates'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/templates', { signal })),
    staleTime: FOREVER,
  })

export const runs = (limit: number) =>
  queryOptions({
    queryKey: ['runs', { limit }],
    queryFn: ({ signal }) => unwrap(client.GET('/api/runs', { params: { query: { limit } }, signal })),
  })

export const runPages = (status?: RunStatus) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'pages', { status }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/runs', {
          params: { query: { status: status && [status], limit: 50, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })

// All queries that a run's stream affects share the key ['run', id], so that one call refreshes them.

export const run = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/runs/{run_id}', { params: { path: { run_id } }, signal })),
  })

export const runInput = (run_id: string) =>
  queryOptions({
    queryKey: ['run input', run_id],
    queryFn: async ({ signal }) =>
      String(
        await unwrap(
          client.GET('/api/runs/{run_id}/input', { params: { path: { run_id } }, parseAs: 'text', signal }),
        ),
      ),
    staleTime: FOREVER,
  })

export const execution = (run_id: string, execution_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'execution', execution_id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/executions/{execution_id}', { params: { path: { execution_id } }, signal })),
  })

export type LogQuery = {
  order: 'newest' | 'oldest'
  before?: number
  after?: number
  level: LogLevel[]
  search: string
}

const LOG_PAGE = 500

/** A page of a log. Not cached, because the log store keeps the lines. */
export const logPage = (execution_id: string, query: LogQuery, signal: AbortSignal) =>
  unwrap(
    client.GET('/api/executions/{execution_id}/logs', {
      params: { path: { execution_id }, query: { ...query, limit: LOG_PAGE } },
      signal,
    }),
  )

const MESSAGES_PAGE = 100

type MessageQuery = { order: 'newest' | 'oldest'; before?: number; after?: number }

/** A page of a conversation. Not cached, because the conversation store keeps the messages. */
export const messagePage = (execution_id: string, query: MessageQuery, signal: AbortSignal) =>
  unwrap(
    client.GET('/api/executions/{execution_id}/messages', {
      params: { path: { execution_id }, query: { ...query, limit: MESSAGES_PAGE } },
      signal,
    }),
  )

export const context = (run_id: string, execution_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'context', execution_id],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/executions/{execution_id}/context', { params: { path: { execution_id } }, signal }),
      ),
  })

export const executions = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'executions'],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/runs/{run_id}/checkpoints', {
          params: { path: { run_id }, query: { limit: 500 } },
          signal,
        }),
      ),
  })

export const lineage = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'lineage'],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/runs/{run_id}/lineage', { params: { path: { run_id } }, signal })),
  })

export const rollbacks = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'rollbacks'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/rollback', { params: { query: { run_id } }, signal })),
  })

/** The current artifacts of a run. */
export const runArtifacts = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'artifacts'],
    queryFn: async ({ signal }) => {
      const query = { run_id, limit: 500 }
      return (await unwrap(client.GET('/api/artifacts/list', { params: { query }, signal }))).items
    },
  })

/** The content of an artifact record never changes, so it is cached forever. */
export const artifactContent = (artifact_record_id: string, checksum: string) =>
  queryOptions({
    queryKey: ['content', artifact_record_id, checksum],
    queryFn: async ({ signal }) =>
      String(
        await unwrap(
          client.GET('/api/artifacts/{artifact_record_id}/content', {
            params: { path: { artifact_record_id } },
            parseAs: 'text',
            signal,
          }),
        ),
      ),
    staleTime: FOREVER,
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
      unwrap(
        client.GET('/api/events', {
          params: {
            query: {
              ...filter,
              event_type: filter.event_type ? [filter.event_type] : undefined,
              limit: 50,
              cursor: pageParam ?? undefined,
            },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })

/** The health report. The checks take a moment, so the result is cached for a minute. */
export const healthReport = () =>
  queryOptions({
    queryKey: ['health-report'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/doctor', { signal })),
    staleTime: 60_000,
  })
