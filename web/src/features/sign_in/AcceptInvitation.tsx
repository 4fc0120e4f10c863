import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { acceptInvitation, previewInvitation } from '~/api/signIn'
import { timeLeft } from '~/lib/durations'
import { asProblem } from '~/lib/problems'
import { LoadError } from '~/ui/ProblemNotice'
import { useNow } from '~/ui/Time'
import styles from './SignIn.module.css'
import { SignInLayout } from './SignInLayout'

const MIN_LENGTH = 12

/** Accepts an invitation and sets a password. */
export function AcceptInvitation({ token }: { token: string }) {
  const { data, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => previewInvitation(token),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) {
    return (
      <SignInLayout title="Invalid invitation">
        <LoadError title="The invitation was used, revoked or has expired." error={error} />
        <p className={styles.text}>Ask an admin for a new one.</p>
        <Button renderRoot={(props) => <a href="/" {...props} />}>Go to sign-in</Button>
      </SignInLayout>
    )
  }
  if (data === undefined) return null
  return (
    <SignInLayout title={`Welcome, ${data.display_name || data.user}`}>
      <AcceptForm token={token} {...data} />
    </SignInLayout>
  )
}

type Props = { token: string; user: string; display_name: string; email: string; expires_at: string }

function AcceptForm({ token, user, display_name, email, expires_at }: Props) {
  const now = useNow()
  const [displayName, setDisplayName] = useState(display_name)
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => acceptInvitation(token, password, displayName.trim()),
    onSuccess: () => location.replace('/'),
  })
  const problem = error === null ? null : asProblem(error)
  const differs = repeated !== '' && repeated !== password
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (repeated === password) mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <p className={styles.text}>
        Your username is <strong>{user}</strong>
        {email !== '' && `, and you can also sign in with ${email}`}. Choose a password (
        {timeLeft(expires_at, now)}).
      </p>
      <TextInput
        label="Display name (optional)"
        value={displayName}
        onChange={(event) => setDisplayName(event.currentTarget.value)}
        autoComplete="name"
      />
      <input type="hidden" name="username" autoComplete="username" value={user} readOnly />
      <PasswordInput
        label="Password"
        description={`At least ${MIN_LENGTH} characters. A few random words are easy to remember.`}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="new-password"
        minLength={MIN_LENGTH}
        required
        error={problem !== null && (problem.errors[0]?.message || problem.detail)}
        autoFocus
      />
      <PasswordInput
        label="Repeat password"
        value={repeated}
        onChange={(event) => setRepeated(event.currentTarget.value)}
        autoComplete="new-password"
        required
        error={differs && "The passwords don't match."}
      />
      <Button type="submit" variant="filled" size="md" loading={isPending} fullWidth>
        Set password and sign in
      </Button>
    </form>
  )
}
