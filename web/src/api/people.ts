import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, client } from './client'
import type {
  CreateInvitationRequest,
  CreateOwnTokenRequest,
  CreateTokenRequest,
  UpdateUserRequest,
} from './types'

const MANY = { limit: 500 }
const PAGE = 50
const PAGES = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
}

// Everything about people and what lets them in stands below ['people'], so that one call refreshes it.

/** Who can be named where people are asked; everybody may see these. */
export const persons = () =>
  queryOptions({
    queryKey: ['people', 'persons'],
    queryFn: ({ signal }) => answer(client.GET('/api/people', { params: { query: MANY }, signal })),
  })

export const users = (removed: boolean, search: string) =>
  infiniteQueryOptions({
    queryKey: ['people', 'users', { removed, search }],
    queryFn: ({ signal, pageParam }) =>
      answer(
        client.GET('/api/users', {
          params: { query: { limit: PAGE, cursor: pageParam ?? undefined, removed, search } },
          signal,
        }),
      ),
    ...PAGES,
  })

export const groups = () =>
  queryOptions({
    queryKey: ['people', 'groups'],
    queryFn: ({ signal }) => answer(client.GET('/api/groups', { params: { query: MANY }, signal })),
  })

export const invitations = () =>
  queryOptions({
    queryKey: ['people', 'invitations'],
    queryFn: ({ signal }) => answer(client.GET('/api/invitations', { params: { query: MANY }, signal })),
  })

export const tokens = (all: boolean) =>
  infiniteQueryOptions({
    queryKey: ['people', 'tokens', { all }],
    queryFn: ({ signal, pageParam }) =>
      answer(
        client.GET('/api/tokens', {
          params: { query: { limit: PAGE, cursor: pageParam ?? undefined, all } },
          signal,
        }),
      ),
    ...PAGES,
  })

/** One's own, that are valid. */
export const ownTokens = () =>
  infiniteQueryOptions({
    queryKey: ['people', 'own tokens'],
    queryFn: ({ signal, pageParam }) =>
      answer(
        client.GET('/api/me/tokens', {
          params: { query: { limit: PAGE, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    ...PAGES,
  })

/** The open sessions of a user; without a name one's own. */
export const sessions = (user?: string) =>
  queryOptions({
    queryKey: ['people', 'sessions', { user }],
    queryFn: ({ signal }) =>
      answer(client.GET('/api/sessions', { params: { query: { ...MANY, user } }, signal })),
  })

export const delegations = (user?: string) =>
  queryOptions({
    queryKey: ['people', 'delegations', { user }],
    queryFn: ({ signal }) =>
      answer(client.GET('/api/delegations', { params: { query: { ...MANY, user } }, signal })),
  })

export const secrets = () =>
  queryOptions({
    queryKey: ['people', 'secrets'],
    queryFn: ({ signal }) => answer(client.GET('/api/secrets', { params: { query: MANY }, signal })),
  })

const ofName = (name: string) => ({ path: { name } })

export const invite = (body: CreateInvitationRequest) => answer(client.POST('/api/invitations', { body }))
export const revokeInvitation = (invitation_id: string) =>
  answer(client.DELETE('/api/invitations/{invitation_id}', { params: { path: { invitation_id } } }))
export const changeUser = (name: string, body: UpdateUserRequest) =>
  answer(client.PUT('/api/users/{name}', { params: ofName(name), body }))
export const removeUser = (name: string) =>
  answer(client.DELETE('/api/users/{name}', { params: ofName(name) }))
export const restoreUser = (name: string) =>
  answer(client.POST('/api/users/{name}/restore', { params: ofName(name) }))

type GroupBody = { description: string; members: string[] }
export const makeGroup = (name: string, body: GroupBody) =>
  answer(client.POST('/api/groups', { body: { name, ...body } }))
export const changeGroup = (name: string, body: GroupBody) =>
  answer(client.PUT('/api/groups/{name}', { params: ofName(name), body }))
export const removeGroup = (name: string) =>
  answer(client.DELETE('/api/groups/{name}', { params: ofName(name) }))

export const makeToken = (body: CreateTokenRequest) => answer(client.POST('/api/tokens', { body }))
export const revokeToken = (token_id: string) =>
  answer(client.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } }))

export const makeOwnToken = (body: CreateOwnTokenRequest) => answer(client.POST('/api/me/tokens', { body }))
export const revokeOwnToken = (token_id: string) =>
  answer(client.DELETE('/api/me/tokens/{token_id}', { params: { path: { token_id } } }))
export const changeMe = (display_name: string) => answer(client.PUT('/api/me', { body: { display_name } }))

export const endSession = (session_id: string) =>
  answer(client.DELETE('/api/sessions/{session_id}', { params: { path: { session_id } } }))
/** All of a user's; without a name all one's own but this one. */
export const endSessions = (user?: string) =>
  answer(client.DELETE('/api/sessions', { params: { query: { user } } }))
export const changePassword = (current: string, password: string) =>
  answer(client.PUT('/api/session/password', { body: { current, new: password } }))

export const delegate = (body: { to_user: string; until: string; from_user?: string; reason: string }) =>
  answer(client.POST('/api/delegations', { body }))
export const endDelegation = (delegation_id: string) =>
  answer(client.DELETE('/api/delegations/{delegation_id}', { params: { path: { delegation_id } } }))

export const putSecret = (name: string, value: string) =>
  answer(client.PUT('/api/secrets/{name}', { params: ofName(name), body: { value } }))
export const removeSecret = (name: string) =>
  answer(client.DELETE('/api/secrets/{name}', { params: ofName(name) }))
export const rotateSecrets = () => answer(client.POST('/api/secrets/rotate'))
