import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { asYaml, client, unwrap } from './client'
import type { LibraryAgent } from './types'

// All agent queries share the key ['agents'], so that one call refreshes them.

export const agentPages = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['agents', 'list', search],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/agents', {
          params: { query: { limit: 100, search: search || undefined, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (before) => before,
  })

export const agent = (name: string) =>
  queryOptions({
    queryKey: ['agents', 'one', name],
    queryFn: async ({ signal }) =>
      (await unwrap(
        client.GET('/api/agents/{name}', { params: { path: { name } }, signal }),
      )) as LibraryAgent,
  })

/** The YAML text of a revision, for editing. */
export const agentText = (name: string, revision: number) =>
  queryOptions({
    queryKey: ['agents', 'text', name, revision],
    queryFn: async ({ signal }) =>
      String(
        await unwrap(
          client.GET('/api/agents/{name}', {
            params: { path: { name }, query: { format: 'yaml' } },
            parseAs: 'text',
            signal,
          }),
        ),
      ),
  })

export const agentRevisions = (name: string) =>
  queryOptions({
    queryKey: ['agents', 'revisions', name],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/agents/{name}/revisions', {
          params: { path: { name }, query: { limit: 200 } },
          signal,
        }),
      ),
  })

/** Saves YAML or JSON. Without a revision, it overwrites any version. */
export const saveAgent = (name: string, text: string, revision: number | null) =>
  unwrap(
    client.PUT('/api/agents/{name}', {
      ...asYaml,
      body: text,
      params: { path: { name }, header: revision === null ? {} : { 'If-Match': `"${revision}"` } },
    }),
  )

export const deleteAgent = (name: string, revision: number) =>
  unwrap(
    client.DELETE('/api/agents/{name}', {
      params: { path: { name }, header: { 'If-Match': `"${revision}"` } },
    }),
  )
