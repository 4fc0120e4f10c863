import { queryOptions } from '@tanstack/react-query'
import { client, unwrap } from './client'
import type { PutActionTypeRequest } from './types'

export const actionTypes = () =>
  queryOptions({
    queryKey: ['action-types'],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/actions/types', { params: { query: { limit: 500 } }, signal })),
  })

const namePath = (name: string) => ({ path: { name } })

export const putActionType = (name: string, body: PutActionTypeRequest) =>
  unwrap(client.PUT('/api/actions/types/{name}', { params: namePath(name), body }))
export const removeActionType = (name: string) =>
  unwrap(client.DELETE('/api/actions/types/{name}', { params: namePath(name) }))
