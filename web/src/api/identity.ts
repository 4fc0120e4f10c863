import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { client, unwrap } from './client'
import type {
  CreateInvitationRequest,
  CreateOwnTokenRequest,
  CreateTokenRequest,
  UpdateUserRequest,
} from './types'

const ALL_ITEMS = { limit: 500 }
const PAGE_SIZE = 50
const PAGING = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
}

// All identity queries share the key ['identity'], so that one call refreshes them.

/** People who can be assigned. Visible to every user. */
export const people = () =>
  queryOptions({
    queryKey: ['identity', 'people'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/people', { params: { query: ALL_ITEMS }, signal })),
  })

export const users = (deleted: boolean, search: string) =>
  infiniteQueryOptions({
    queryKey: ['identity', 'users', { deleted, search }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/users', {
          params: { query: { limit: PAGE_SIZE, cursor: pageParam ?? undefined, deleted, search } },
          signal,
        }),
      ),
    ...PAGING,
  })

export const groups = () =>
  queryOptions({
    queryKey: ['identity', 'groups'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/groups', { params: { query: ALL_ITEMS }, signal })),
  })

export const invitations = () =>
  queryOptions({
    queryKey: ['identity', 'invitations'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/invitations', { params: { query: ALL_ITEMS }, signal })),
  })

export const tokens = (all: boolean) =>
  infiniteQueryOptions({
    queryKey: ['identity', 'tokens', { all }],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/tokens', {
          params: { query: { limit: PAGE_SIZE, cursor: pageParam ?? undefined, all } },
          signal,
        }),
      ),
    ...PAGING,
  })

/** The valid tokens of the current user. */
export const ownTokens = () =>
  infiniteQueryOptions({
    queryKey: ['identity', 'own tokens'],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        client.GET('/api/me/tokens', {
          params: { query: { limit: PAGE_SIZE, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    ...PAGING,
  })

/** The open sessions of a user, by default the current one. */
export const sessions = (user?: string) =>
  queryOptions({
    queryKey: ['identity', 'sessions', { user }],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/sessions', { params: { query: { ...ALL_ITEMS, user } }, signal })),
  })

export const delegations = (user?: string) =>
  queryOptions({
    queryKey: ['identity', 'delegations', { user }],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/delegations', { params: { query: { ...ALL_ITEMS, user } }, signal })),
  })

export const secrets = () =>
  queryOptions({
    queryKey: ['identity', 'secrets'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/secrets', { params: { query: ALL_ITEMS }, signal })),
  })

const namePath = (name: string) => ({ path: { name } })

export const invite = (body: CreateInvitationRequest) => unwrap(client.POST('/api/invitations', { body }))
export const revokeInvitation = (invitation_id: string) =>
  unwrap(client.DELETE('/api/invitations/{invitation_id}', { params: { path: { invitation_id } } }))
export const updateUser = (name: string, body: UpdateUserRequest) =>
  unwrap(client.PUT('/api/users/{name}', { params: namePath(name), body }))
export const deleteUser = (name: string) =>
  unwrap(client.DELETE('/api/users/{name}', { params: namePath(name) }))
export const restoreUser = (name: string) =>
  unwrap(client.POST('/api/users/{name}/restore', { params: namePath(name) }))

type GroupBody = { description: string; members: string[] }
export const createGroup = (name: string, body: GroupBody) =>
  unwrap(client.POST('/api/groups', { body: { name, ...body } }))
export const updateGroup = (name: string, body: GroupBody) =>
  unwrap(client.PUT('/api/groups/{name}', { params: namePath(name), body }))
export const deleteGroup = (name: string) =>
  unwrap(client.DELETE('/api/groups/{name}', { params: namePath(name) }))

export const createToken = (body: CreateTokenRequest) => unwrap(client.POST('/api/tokens', { body }))
export const revokeToken = (token_id: string) =>
  unwrap(client.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } }))

export const createOwnToken = (body: CreateOwnTokenRequest) => unwrap(client.POST('/api/me/tokens', { body }))
export const revokeOwnToken = (token_id: string) =>
  unwrap(client.DELETE('/api/me/tokens/{token_id}', { params: { path: { token_id } } }))
export const updateProfile = (display_name: string) =>
  unwrap(client.PUT('/api/me', { body: { display_name } }))

export const endSession = (session_id: string) =>
  unwrap(client.DELETE('/api/sessions/{session_id}', { params: { path: { session_id } } }))
/** Ends all sessions of a user. By default, all other sessions of the current user. */
export const endSessions = (user?: string) =>
  unwrap(client.DELETE('/api/sessions', { params: { query: { user } } }))
export const changePassword = (current: string, password: string) =>
  unwrap(client.PUT('/api/session/password', { body: { current, new: password } }))

export const createDelegation = (body: {
  to_user: string
  ends_at: string
  from_user?: string
  reason: string
}) => unwrap(client.POST('/api/delegations', { body }))
export const endDelegation = (delegation_id: string) =>
  unwrap(client.DELETE('/api/delegations/{delegation_id}', { params: { path: { delegation_id } } }))

export const setSecret = (name: string, value: string) =>
  unwrap(client.PUT('/api/secrets/{name}', { params: namePath(name), body: { value } }))
export const deleteSecret = (name: string) =>
  unwrap(client.DELETE('/api/secrets/{name}', { params: namePath(name) }))
export const rotateSecrets = () => unwrap(client.POST('/api/secrets/rotate'))
