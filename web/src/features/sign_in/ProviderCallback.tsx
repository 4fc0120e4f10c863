import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { finishSignIn } from '~/api/signIn'
import { asProblem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import type { EntryRoute } from './entryRoutes'
import { SignInLayout } from './SignInLayout'

type Props = { route: Extract<EntryRoute, { kind: 'provider' }> }

let finished = false

/** Completes the sign-in with an identity provider and returns to the original address. */
export function ProviderCallback({ route }: Props) {
  const { provider, code, state, error: refused } = route
  const { mutate, error: failure } = useMutation({
    mutationFn: () => finishSignIn(provider, code, state),
    onSuccess: ({ return_to }) => location.replace(return_to),
  })
  useEffect(() => {
    // A code works once, even when this page is rendered twice.
    if (refused !== null || finished) return
    finished = true
    mutate()
  }, [refused, mutate])
  const error = refused ?? (failure === null ? null : asProblem(failure).detail)
  if (error === null) return null
  return (
    <SignInLayout title="Sign-in failed">
      <Notice tone="red" title="The sign-in couldn't be completed.">
        {error}
      </Notice>
      <Button variant="filled" size="md" renderRoot={(props) => <a href="/" {...props} />}>
        Try again
      </Button>
    </SignInLayout>
  )
}
