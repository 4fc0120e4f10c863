import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { parseJson } from '~/lib/json'
import { client, unwrap } from './client'
import { previewModification } from './commands'
import type { ApprovalKind, RiskLevel } from './types'

const FOREVER = Number.POSITIVE_INFINITY

// All approval queries share the key ['approvals'], so that one call refreshes them.

/** Approvals that wait for the current user, most urgent first. */
export const pendingApprovals = () =>
  queryOptions({
    queryKey: ['approvals'],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/approvals', {
          params: { query: { status: ['pending'], mine: true, sort: 'deadline', limit: 200 } },
          signal,
        }),
      ),
  })

export type ApprovalSort = 'age' | 'deadline' | 'risk' | 'priority'
export type ApprovalFilter = {
  kind?: ApprovalKind
  risk?: RiskLevel
  pipeline?: string
  everybody?: boolean
  sort?: ApprovalSort
}

/** The filtered and sorted list of approvals. */
export const approvalPages = ({ kind, risk, pipeline, everybody, sort }: ApprovalFilter) =>
  infiniteQueryOptions({
    queryKey: ['approvals', 'queue', { kind, risk, pipeline, everybody, sort }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/approvals', {
          params: {
            query: {
              status: ['pending'],
              kind: kind && [kind],
              risk_level: risk && [risk],
              pipeline_id: pipeline,
              mine: everybody !== true,
              sort: sort ?? 'deadline',
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

export const approval = (approval_id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', approval_id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/approvals/{approval_id}', { params: { path: { approval_id } }, signal })),
  })

/** The effect of changed parameters on an action. `patch` is JSON text. */
export const modificationPreview = (approval_id: string, patch: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', approval_id, 'modified', patch],
    queryFn: ({ signal }) =>
      previewModification(approval_id, parseJson(patch) as Record<string, unknown>, signal),
  })

/** The rule that requires the approval, and why the others did not apply. */
export const explanation = (approval_id: string) =>
  queryOptions({
    queryKey: ['approval explained', approval_id],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/approvals/{approval_id}/explain', { params: { path: { approval_id } }, signal }),
      ),
    staleTime: FOREVER,
  })

/** How often approvers modify actions, by operation. */
export const modificationRates = () =>
  queryOptions({
    queryKey: ['learning', 'rates'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/corrections/rates', { signal })),
    staleTime: 60_000,
  })
