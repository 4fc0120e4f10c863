import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { session } from '~/api/queries'
import { signIn } from '~/api/signIn'
import { asProblem, type Problem } from '~/lib/problems'
import { tokenIn } from '~/lib/startLink'
import { Failure } from '~/ui/ProblemNotice'
import { Welcome } from './AcceptInvitation'
import { type Door, doorOf } from './entryRoutes'
import { ComeBack } from './ProviderCallback'
import styles from './SignIn.module.css'
import { SignIn } from './SignInPage'

/** The token of a start link, taken out of the address at once: it must not stay in the history. */
function takeToken(): string | null {
  const token = location.hash.includes('token=') ? tokenIn(location.hash) : null
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

/** What the address asked for, taken out of it at once, as a token is. */
function takeDoor(): Door | null {
  const door = doorOf(location)
  if (door?.kind === 'welcome') history.replaceState(history.state, '', location.pathname)
  return door
}

/** Invitations and identity providers lead in by doors of their own; all else needs a session. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [door] = useState(takeDoor)
  if (door?.kind === 'welcome') return <Welcome token={door.token} />
  if (door?.kind === 'provider') return <ComeBack door={door} />
  return <Inside>{children}</Inside>
}

/** Shows the app to who is signed in, the sign-in to everybody else. The address stays, so that one lands where one meant to go. */
function Inside({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [token, setToken] = useState(takeToken)
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const found = useQuery({ ...session(), enabled: token === null, retry: false })

  useEffect(() => {
    // A start link that is opened in this very tab changes the fragment alone and loads nothing.
    const look = () => {
      const found = takeToken()
      if (found !== null) setToken(found)
    }
    window.addEventListener('hashchange', look)
    return () => window.removeEventListener('hashchange', look)
  }, [])

  useEffect(() => {
    if (token === null) return
    let current = true
    signIn(token)
      .then((data) => {
        setRefusal(null)
        client.setQueryData(session().queryKey, data)
      })
      .catch((error) => current && setRefusal(asProblem(error)))
      .finally(() => current && setToken(null))
    return () => {
      current = false
    }
  }, [token, client])

  if (found.data !== undefined && token === null) return children
  if (token !== null || found.isPending) return null
  if (asProblem(found.error).status !== 401) {
    return (
      <div className={styles.gate}>
        <Failure what="Cairn cannot be reached." error={found.error} retry={() => void found.refetch()} />
      </div>
    )
  }
  return (
    <SignIn
      key={refusal?.detail}
      refusal={refusal}
      onSignedIn={(data) => {
        setRefusal(null)
        client.setQueryData(session().queryKey, data)
      }}
    />
  )
}
