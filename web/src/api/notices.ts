import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, client } from './client'
import type {
  CreateChannelRequest,
  DeliveryStatus,
  NoticeKind,
  SetPreferencesRequest,
  UpdateChannelRequest,
} from './types'

// Everything about notices stands below ['notices'], so that one call refreshes it.

/** To choose from. */
export const channels = () =>
  queryOptions({
    queryKey: ['notices', 'channels'],
    queryFn: ({ signal }) =>
      answer(client.GET('/api/channels', { params: { query: { limit: 500 } }, signal })),
  })

export const channelPages = () =>
  infiniteQueryOptions({
    queryKey: ['notices', 'channels', 'pages'],
    queryFn: ({ signal, pageParam }) =>
      answer(
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
  kind?: NoticeKind
  approval_id?: string
}

export const deliveries = ({ status, kind, ...filter }: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ['notices', 'deliveries', { status, kind, ...filter }],
    queryFn: ({ signal, pageParam }) =>
      answer(
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
    queryKey: ['notices', 'delivery', delivery_id],
    queryFn: ({ signal }) =>
      answer(client.GET('/api/deliveries/{delivery_id}', { params: { path: { delivery_id } }, signal })),
  })

export const preferences = () =>
  queryOptions({
    queryKey: ['notices', 'preferences'],
    queryFn: ({ signal }) => answer(client.GET('/api/preferences', { signal })),
  })

const ofChannel = (channel_id: string) => ({ path: { channel_id } })

export const makeChannel = (body: CreateChannelRequest) => answer(client.POST('/api/channels', { body }))
export const changeChannel = (id: string, revision: number, body: UpdateChannelRequest) =>
  answer(
    client.PUT('/api/channels/{channel_id}', {
      params: { ...ofChannel(id), header: { 'If-Match': `"${revision}"` } },
      body,
    }),
  )
export const removeChannel = (id: string) =>
  answer(client.DELETE('/api/channels/{channel_id}', { params: ofChannel(id) }))
export const testChannel = (id: string, recipient: string | null) =>
  answer(client.POST('/api/channels/{channel_id}/test', { params: ofChannel(id), body: { recipient } }))
export const setPreferences = (body: SetPreferencesRequest) =>
  answer(client.PUT('/api/preferences', { body }))
