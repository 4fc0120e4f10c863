import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { signInOptions, signInWithPassword, signInWithToken, startSignIn } from '~/api/signIn'
import type { Session, SignInOptions } from '~/api/types'
import { asProblem, type Problem } from '~/lib/problems'
import { extractToken } from '~/lib/startLink'
import styles from './SignIn.module.css'
import { SignInLayout } from './SignInLayout'

type Props = { initialProblem: Problem | null; onSignedIn: (session: Session) => void }

/** Signs in with an identity provider, a password or the start link. */
export function SignInPage({ initialProblem, onSignedIn }: Props) {
  const { data: options, isPending } = useQuery({ ...signInOptions(), retry: false })
  const [useToken, setUseToken] = useState(initialProblem !== null)
  if (isPending) return null
  const hasOtherOptions = options !== undefined && (options.password || options.providers.length > 0)
  return (
    <SignInLayout title="Sign in to Cairn">
      {hasOtherOptions && !useToken ? (
        <>
          <Providers options={options} />
          {options.password && <PasswordForm onSignedIn={onSignedIn} />}
          <Button variant="subtle" onClick={() => setUseToken(true)}>
            Use a start link or token
          </Button>
        </>
      ) : (
        <>
          <TokenForm initialProblem={initialProblem} onSignedIn={onSignedIn} />
          {hasOtherOptions && (
            <Button variant="subtle" onClick={() => setUseToken(false)}>
              {options.password ? 'Use username and password' : 'Use another sign-in method'}
            </Button>
          )}
        </>
      )}
    </SignInLayout>
  )
}

function Providers({ options }: { options: SignInOptions }) {
  const { mutate, isPending, variables, error } = useMutation({
    mutationFn: (provider: string) => startSignIn(provider, location.pathname + location.search),
    onSuccess: ({ url }) => location.assign(url),
  })
  return (
    <>
      {options.providers.map((provider) => (
        <Button
          key={provider.name}
          size="md"
          variant={options.password ? 'default' : 'filled'}
          fullWidth
          loading={isPending && variables === provider.name}
          onClick={() => mutate(provider.name)}
        >
          Sign in with {provider.title}
        </Button>
      ))}
      {error !== null && (
        <p className={styles.error} role="alert">
          {asProblem(error).detail}
        </p>
      )}
      {options.password && options.providers.length > 0 && <p className={styles.divider}>or</p>}
    </>
  )
}

function PasswordForm({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => signInWithPassword(name.trim(), password),
    onSuccess: onSignedIn,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        label="Username or email"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="username"
        autoCapitalize="off"
        spellCheck={false}
        required
        autoFocus
      />
      <PasswordInput
        label="Password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="current-password"
        required
        error={error !== null && passwordErrorText(asProblem(error))}
      />
      <Button type="submit" variant="filled" size="md" loading={isPending} fullWidth>
        Sign in
      </Button>
    </form>
  )
}

const isRejected = ({ status }: Problem) => status === 401 || status === 403

const passwordErrorText = (problem: Problem) =>
  isRejected(problem) ? 'Wrong username or password.' : problem.detail

function TokenForm({ initialProblem, onSignedIn }: Props) {
  const [pasted, setPasted] = useState('')
  const [problem, setProblem] = useState<string | null>(initialProblem && problemText(initialProblem))
  const { mutate, isPending } = useMutation({
    mutationFn: signInWithToken,
    onSuccess: onSignedIn,
    onError: (error) => setProblem(problemText(asProblem(error))),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const token = extractToken(pasted)
    if (token === null) setProblem('No token found. Paste the whole link or the part after “token=”.')
    else mutate(token)
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <p className={styles.text}>
        Cairn prints a start link in its terminal (<code>make run</code> or <code>cairn serve</code>). Open
        that link or paste it here.
      </p>
      <TextInput
        label="Start link or token"
        value={pasted}
        onChange={(event) => setPasted(event.currentTarget.value)}
        error={problem}
        type="password"
        autoComplete="off"
        spellCheck={false}
        autoFocus
      />
      <Button type="submit" variant="filled" size="md" loading={isPending} fullWidth>
        Sign in
      </Button>
    </form>
  )
}

function problemText(problem: Problem): string {
  return isRejected(problem)
    ? 'This token is invalid or expired. Find the latest start link in the terminal where Cairn runs.'
    : problem.detail
}
