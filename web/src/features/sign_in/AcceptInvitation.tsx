import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { acceptInvitation, lookAtInvitation } from '~/api/signIn'
import { left } from '~/lib/durations'
import { asProblem } from '~/lib/problems'
import { Failure } from '~/ui/ProblemNotice'
import { useNow } from '~/ui/Time'
import styles from './SignIn.module.css'
import { Entrance } from './SignInLayout'

const SHORTEST = 12

/** Accepts an invitation: whoever it is for chooses a password and is in. */
export function Welcome({ token }: { token: string }) {
  const { data, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => lookAtInvitation(token),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) {
    return (
      <Entrance title="This invitation does not open">
        <Failure what="It was used, taken back, or is too old." error={error} />
        <p className={styles.words}>Ask an admin for a new one.</p>
        <Button renderRoot={(props) => <a href="/" {...props} />}>Go to the sign-in</Button>
      </Entrance>
    )
  }
  if (data === undefined) return null
  return (
    <Entrance title={`Welcome, ${data.display_name || data.user}`}>
      <Accepting token={token} {...data} />
    </Entrance>
  )
}

type Props = { token: string; user: string; display_name: string; email: string; expires_at: string }

function Accepting({ token, user, display_name, email, expires_at }: Props) {
  const now = useNow()
  const [shown, setShown] = useState(display_name)
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const differs = again !== '' && again !== password
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (again !== password) return
    setBusy(true)
    setProblem(null)
    try {
      await acceptInvitation(token, password, shown.trim())
      location.replace('/')
    } catch (error) {
      const { errors, detail } = asProblem(error)
      setProblem(errors[0]?.message || detail)
      setBusy(false)
    }
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <p className={styles.words}>
        You sign in as <strong>{user}</strong>
        {email !== '' && ` or ${email}`}. Choose your password. {left(expires_at, now)} to do so.
      </p>
      <TextInput
        label="What people see (optional)"
        value={shown}
        onChange={(event) => setShown(event.currentTarget.value)}
        autoComplete="name"
      />
      <input type="hidden" name="username" autoComplete="username" value={user} readOnly />
      <PasswordInput
        label="Password"
        description={`${SHORTEST} characters or more; a few words are easy to keep in mind.`}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="new-password"
        minLength={SHORTEST}
        required
        error={problem}
        autoFocus
      />
      <PasswordInput
        label="Once more"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        autoComplete="new-password"
        required
        error={differs && 'This is not the same.'}
      />
      <Button type="submit" variant="filled" size="md" loading={busy} fullWidth>
        Set the password and sign in
      </Button>
    </form>
  )
}
