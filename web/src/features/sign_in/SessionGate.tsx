import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { session } from '~/api/queries'
import { signInWithToken } from '~/api/signIn'
import { asProblem } from '~/lib/problems'
import { extractToken } from '~/lib/startLink'
import { LoadError } from '~/ui/ProblemNotice'
import { AcceptInvitation } from './AcceptInvitation'
import { type EntryRoute, entryRoute } from './entryRoutes'
import { ProviderCallback } from './ProviderCallback'
import styles from './SignIn.module.css'
import { SignInPage } from './SignInPage'

/** Takes the token of a start link out of the address, so that it doesn't stay in the history. */
function takeToken(): string | null {
  const token = location.hash.includes('token=') ? extractToken(location.hash) : null
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

/** Takes the entry route and removes its token from the address. */
function takeEntryRoute(): EntryRoute | null {
  const route = entryRoute(location)
  if (route?.kind === 'welcome') history.replaceState(history.state, '', location.pathname)
  return route
}

/** Requires a session for everything except invitations and identity providers. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [route] = useState(takeEntryRoute)
  if (route?.kind === 'welcome') return <AcceptInvitation token={route.token} />
  if (route?.kind === 'provider') return <ProviderCallback route={route} />
  return <RequireSession>{children}</RequireSession>
}

/** Shows the app or the sign-in page. The address stays the same, so that signing in leads to the requested page. */
function RequireSession({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [token, setToken] = useState(takeToken)
  const signIn = useMutation({
    mutationFn: signInWithToken,
    onSuccess: (data) => client.setQueryData(session().queryKey, data),
    onSettled: () => setToken(null),
  })
  const { mutate, reset } = signIn
  const signInProblem = signIn.error === null ? null : asProblem(signIn.error)
  const sessionQuery = useQuery({ ...session(), enabled: token === null, retry: false })

  useEffect(() => {
    // A start link that is opened in the same tab changes only the fragment and doesn't reload the page.
    const onHashChange = () => {
      const found = takeToken()
      if (found !== null) setToken(found)
    }
    window.addEventListener('hashchange', onHashChange)
    return () => window.removeEventListener('hashchange', onHashChange)
  }, [])

  useEffect(() => {
    if (token !== null) mutate(token)
  }, [token, mutate])

  if (sessionQuery.data !== undefined && token === null) return children
  if (token !== null || sessionQuery.isPending) return null
  if (asProblem(sessionQuery.error).status !== 401) {
    return (
      <div className={styles.page}>
        <LoadError
          title="Can't reach Cairn."
          error={sessionQuery.error}
          retry={() => void sessionQuery.refetch()}
        />
      </div>
    )
  }
  return (
    <SignInPage
      key={signInProblem?.detail}
      initialProblem={signInProblem}
      onSignedIn={(data) => {
        reset()
        client.setQueryData(session().queryKey, data)
      }}
    />
  )
}
