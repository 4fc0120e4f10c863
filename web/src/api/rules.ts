import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { asYaml, client, unwrap } from './client'
import type { RuleText } from './types'

/** A pipeline id, or null for the global rules. */
export type Scope = string | null

const ofPipeline = (pipeline_id: string) => ({ path: { pipeline_id } })

// All rule queries share the key ['rules'], so that one call refreshes them.

export const rules = (scope: Scope) =>
  queryOptions({
    queryKey: ['rules', 'text', scope],
    queryFn: async ({ signal }) =>
      (await unwrap(
        scope === null
          ? client.GET('/api/rules', { signal })
          : client.GET('/api/pipelines/{pipeline_id}/rules', { params: ofPipeline(scope), signal }),
      )) as RuleText,
  })

export const ruleVersions = (scope: Scope) =>
  queryOptions({
    queryKey: ['rules', 'versions', scope],
    queryFn: ({ signal }) =>
      unwrap(
        scope === null
          ? client.GET('/api/rules/versions', { params: { query: { limit: 200 } }, signal })
          : client.GET('/api/pipelines/{pipeline_id}/rules/versions', {
              params: { ...ofPipeline(scope), query: { limit: 200 } },
              signal,
            }),
      ),
  })

export const ruleDiff = (scope: Scope, from: number, to: number) =>
  queryOptions({
    queryKey: ['rules', 'diff', scope, from, to],
    queryFn: ({ signal }) => {
      const query = { from, to }
      return unwrap(
        scope === null
          ? client.GET('/api/rules/diff', { params: { query }, signal })
          : client.GET('/api/pipelines/{pipeline_id}/rules/diff', {
              params: { ...ofPipeline(scope), query },
              signal,
            }),
      )
    },
  })

export const autonomy = (days: number) =>
  queryOptions({
    queryKey: ['rules', 'autonomy', days],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/rules/autonomy', { params: { query: { days } }, signal })),
  })

/** Automatic approvals selected for audit, all or only open ones. */
export const audits = (onlyOpen: boolean, scope: Scope) =>
  infiniteQueryOptions({
    queryKey: ['rules', 'audits', { onlyOpen, scope }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/rules/audits', {
          params: {
            query: {
              reviewed: onlyOpen ? false : undefined,
              pipeline_id: scope ?? undefined,
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

export const emergencyStop = () =>
  queryOptions({
    queryKey: ['rules', 'stop'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/rules/emergency-stop', { signal })),
  })

export const emergencyStopHistory = () =>
  queryOptions({
    queryKey: ['rules', 'stops'],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/rules/emergency-stop/history', { params: { query: { limit: 50 } }, signal })),
  })

export const checkRules = (text: string, signal?: AbortSignal) =>
  unwrap(client.POST('/api/rules/check', { ...asYaml, body: text, signal }))

export const saveRules = (scope: Scope, text: string, revision: number, comment: string) => {
  const params = { query: { comment }, header: { 'If-Match': `"${revision}"` } }
  return unwrap(
    scope === null
      ? client.PUT('/api/rules', { ...asYaml, body: text, params: params })
      : client.PUT('/api/pipelines/{pipeline_id}/rules', {
          ...asYaml,
          body: text,
          params: { ...ofPipeline(scope), ...params },
        }),
  )
}

export const deleteRules = (pipeline_id: string, revision: number) =>
  unwrap(
    client.DELETE('/api/pipelines/{pipeline_id}/rules', {
      params: { ...ofPipeline(pipeline_id), header: { 'If-Match': `"${revision}"` } },
    }),
  )

export const backtest = (scope: Scope, text: string) =>
  unwrap(
    client.POST('/api/rules/backtest', {
      ...asYaml,
      body: text,
      params: { query: { pipeline_id: scope ?? undefined } },
    }),
  )

export const reviewAudit = (approval_id: string, agrees: boolean, comment: string) =>
  unwrap(
    client.PUT('/api/rules/audits/{approval_id}', {
      params: { path: { approval_id } },
      body: { agrees, comment },
    }),
  )

export const setEmergencyStop = (stopped: boolean, reason: string) =>
  unwrap(client.PUT('/api/rules/emergency-stop', { body: { stopped, reason } }))
