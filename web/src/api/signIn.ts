import { queryOptions } from '@tanstack/react-query'
import { answer, client } from './client'

/** How people sign in here, besides with a token; also who is not signed in may ask. */
export const signInWays = () =>
  queryOptions({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => answer(client.GET('/api/sign-in', { signal })),
  })

export const signIn = (token: string) => answer(client.POST('/api/session', { body: { token } }))
export const signInByName = (name: string, password: string) =>
  answer(client.POST('/api/session', { body: { name, password } }))
export const signOut = () => answer(client.DELETE('/api/session'))

const ofProvider = (provider: string) => ({ path: { provider } })
export const beginSignIn = (provider: string, return_to: string) =>
  answer(client.POST('/api/sign-in/{provider}', { params: ofProvider(provider), body: { return_to } }))
export const finishSignIn = (provider: string, code: string, state: string) =>
  answer(
    client.POST('/api/sign-in/{provider}/finish', { params: ofProvider(provider), body: { code, state } }),
  )

export const lookAtInvitation = (token: string) =>
  answer(client.POST('/api/invitations/preview', { body: { token } }))
export const acceptInvitation = (token: string, password: string, display_name: string) =>
  answer(client.POST('/api/invitations/accept', { body: { token, password, display_name } }))
