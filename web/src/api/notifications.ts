import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { client, unwrap } from './client'
import type {
  CreateChannelRequest,
  DeliveryStatus,
  NotificationKind,
  SetPreferencesRequest,
  UpdateChannelRequest,
} from './types'

// All notification queries share the key ['notifications'], so that one call refreshes them.

/** All channels, for select fields. */
export const channels = () =>
  queryOptions({
    queryKey: ['notifications', 'channels'],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/channels', { params: { query: { limit: 500 } }, signal })),
  })

export const channelPages = () =>
  infiniteQueryOptions({
    queryKey: ['notifications', 'channels', 'pages'],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/channels', {
          params: { query: { limit: 50, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })

export type DeliveryFilter = {
  channel_id?: string
  status?: DeliveryStatus
  kind?: NotificationKind
  approval_id?: string
}

export const deliveries = ({ status, kind, ...filter }: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ['notifications', 'deliveries', { status, kind, ...filter }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/deliveries', {
          params: {
            query: {
              ...filter,
              status: status && [status],
              kind: kind && [kind],
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

export const delivery = (delivery_id: string) =>
  queryOptions({
    queryKey: ['notifications', 'delivery', delivery_id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/deliveries/{delivery_id}', { params: { path: { delivery_id } }, signal })),
  })

export const preferences = () =>
  queryOptions({
    queryKey: ['notifications', 'preferences'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/preferences', { signal })),
  })

const channelPath = (channel_id: string) => ({ path: { channel_id } })

export const createChannel = (body: CreateChannelRequest) => unwrap(client.POST('/api/channels', { body }))
export const updateChannel = (id: string, revision: number, body: UpdateChannelRequest) =>
  unwrap(
    client.PUT('/api/channels/{channel_id}', {
      params: { ...channelPath(id), header: { 'If-Match': `"${revision}"` } },
      body,
    }),
  )
export const deleteChannel = (id: string) =>
  unwrap(client.DELETE('/api/channels/{channel_id}', { params: channelPath(id) }))
export const testChannel = (id: string, recipient: string | null) =>
  unwrap(client.POST('/api/channels/{channel_id}/test', { params: channelPath(id), body: { recipient } }))
export const setPreferences = (body: SetPreferencesRequest) =>
  unwrap(client.PUT('/api/preferences', { body }))
