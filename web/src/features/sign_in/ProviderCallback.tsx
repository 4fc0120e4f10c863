import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { finishSignIn } from '~/api/signIn'
import { asProblem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import type { EntryRoute } from './entryRoutes'
import { SignInLayout } from './SignInLayout'

type Props = { route: Extract<EntryRoute, { kind: 'provider' }> }

let finished = false

/** Back from an identity provider: hands over what it gave, and goes where the sign-in began. */
export function ProviderCallback({ route }: Props) {
  const { provider, code, state, error: refused } = route
  const [error, setError] = useState(refused)
  useEffect(() => {
    // A code works once: whatever draws this page twice must not hand it over twice.
    if (refused !== null || finished) return
    finished = true
    finishSignIn(provider, code, state)
      .then(({ return_to }) => location.replace(return_to))
      .catch((error) => setError(asProblem(error).detail))
  }, [provider, code, state, refused])
  if (error === null) return null
  return (
    <SignInLayout title="You are not signed in">
      <Notice tone="red" title="The sign-in did not come to its end.">
        {error}
      </Notice>
      <Button variant="filled" size="md" renderRoot={(props) => <a href="/" {...props} />}>
        Try again
      </Button>
    </SignInLayout>
  )
}
