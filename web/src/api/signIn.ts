import { queryOptions } from '@tanstack/react-query'
import { client, unwrap } from './client'

/** The available sign-in methods besides tokens. Needs no session. */
export const signInOptions = () =>
  queryOptions({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/sign-in', { signal })),
  })

export const signInWithToken = (token: string) => unwrap(client.POST('/api/session', { body: { token } }))
export const signInWithPassword = (name: string, password: string) =>
  unwrap(client.POST('/api/session', { body: { name, password } }))
export const signOut = () => unwrap(client.DELETE('/api/session'))

const providerPath = (provider: string) => ({ path: { provider } })
export const startSignIn = (provider: string, return_to: string) =>
  unwrap(client.POST('/api/sign-in/{provider}', { params: providerPath(provider), body: { return_to } }))
export const finishSignIn = (provider: string, code: string, state: string) =>
  unwrap(
    client.POST('/api/sign-in/{provider}/finish', { params: providerPath(provider), body: { code, state } }),
  )

export const previewInvitation = (token: string) =>
  unwrap(client.POST('/api/invitations/preview', { body: { token } }))
export const acceptInvitation = (token: string, password: string, display_name: string) =>
  unwrap(client.POST('/api/invitations/accept', { body: { token, password, display_name } }))
