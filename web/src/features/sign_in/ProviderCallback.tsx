import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { finishSignIn } from '~/api/signIn'
import { asProblem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import type { Door } from './entryRoutes'
import { Entrance } from './SignInLayout'

type Props = { door: Extract<Door, { kind: 'provider' }> }

let begun = false

/** Back from an identity provider: hands over what it gave, and goes where the sign-in began. */
export function ComeBack({ door }: Props) {
  const { provider, code, state, refused } = door
  const [why, setWhy] = useState(refused)
  useEffect(() => {
    // A code works once: whatever draws this page twice must not hand it over twice.
    if (refused !== null || begun) return
    begun = true
    finishSignIn(provider, code, state)
      .then(({ return_to }) => location.replace(return_to))
      .catch((error) => setWhy(asProblem(error).detail))
  }, [provider, code, state, refused])
  if (why === null) return null
  return (
    <Entrance title="You are not signed in">
      <Notice tone="red" title="The sign-in did not come to its end.">
        {why}
      </Notice>
      <Button variant="filled" size="md" renderRoot={(props) => <a href="/" {...props} />}>
        Try again
      </Button>
    </Entrance>
  )
}
