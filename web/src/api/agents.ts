import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { asYaml, client, unwrap } from './client'
import type { LibraryAgent } from './types'

// Everything about the agent library stands below ['agents'], so that one call refreshes it.

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

/** The text to change and save again, as a revision has it. */
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

/** A text in YAML or JSON; without a revision it is saved whatever stands there. */
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
