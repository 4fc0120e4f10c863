import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { parseJson } from '~/lib/json'
import { client, unwrap } from './client'
import { previewModification } from './commands'
import type { ApprovalKind, RiskLevel } from './types'

const FOREVER = Number.POSITIVE_INFINITY

// Everything about approvals stands below ['approvals'], so that one call refreshes it.

/** What waits for whoever is signed in, the most urgent first. */
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

/** The queue, as it is filtered and sorted. */
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

/** What other parameters would make of an action; the patch is given as it is written. */
export const modificationPreview = (approval_id: string, patch: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', approval_id, 'modified', patch],
    queryFn: ({ signal }) =>
      previewModification(approval_id, parseJson(patch) as Record<string, unknown>, signal),
  })

/** Which rule asks, and why each other one did not decide. */
export const explanation = (approval_id: string) =>
  queryOptions({
    queryKey: ['approval explained', approval_id],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/approvals/{approval_id}/explain', { params: { path: { approval_id } }, signal }),
      ),
    staleTime: FOREVER,
  })

/** How often people change what they approve, by operation. */
export const modificationRates = () =>
  queryOptions({
    queryKey: ['learning', 'rates'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/learning/rates', { signal })),
    staleTime: 60_000,
  })

/** Who can be asked to decide. */
export const people = () =>
  queryOptions({
    queryKey: ['people'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/people', { signal })),
    staleTime: 60_000,
  })
