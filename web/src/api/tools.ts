import { infiniteQueryOptions } from '@tanstack/react-query'
import { client, unwrap } from './client'
import type { PutToolRequest } from './types'

export const toolPages = () =>
  infiniteQueryOptions({
    queryKey: ['tools'],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/tools', {
          params: { query: { limit: 100, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })

const namePath = (name: string) => ({ path: { name } })

export const putTool = (name: string, body: PutToolRequest) =>
  unwrap(client.PUT('/api/tools/{name}', { params: namePath(name), body }))
export const removeTool = (name: string) =>
  unwrap(client.DELETE('/api/tools/{name}', { params: namePath(name) }))
export const discoverTools = () => unwrap(client.POST('/api/tools/discover'))
