import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { signInOptions, signInWithPassword, signInWithToken, startSignIn } from '~/api/signIn'
import type { Session, SignInOptions } from '~/api/types'
import { asProblem, type Problem } from '~/lib/problems'
import { extractToken } from '~/lib/startLink'
import styles from './SignIn.module.css'
import { SignInLayout } from './SignInLayout'

type Props = { initialProblem: Problem | null; onSignedIn: (session: Session) => void }

/** Signs in: with the company's account, a password, or the start link; only the ways that there are. */
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
            Use a start link or a token
          </Button>
        </>
      ) : (
        <>
          <TokenForm initialProblem={initialProblem} onSignedIn={onSignedIn} />
          {hasOtherOptions && (
            <Button variant="subtle" onClick={() => setUseToken(false)}>
              {options.password ? 'Use your name and password' : 'Use your company account'}
            </Button>
          )}
        </>
      )}
    </SignInLayout>
  )
}

function Providers({ options }: { options: SignInOptions }) {
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const start = async (provider: string) => {
    setBusy(provider)
    setProblem(null)
    try {
      const { url } = await startSignIn(provider, location.pathname + location.search)
      location.assign(url)
    } catch (error) {
      setProblem(asProblem(error))
      setBusy(null)
    }
  }
  return (
    <>
      {options.providers.map((provider) => (
        <Button
          key={provider.name}
          size="md"
          variant={options.password ? 'default' : 'filled'}
          fullWidth
          loading={busy === provider.name}
          onClick={() => void start(provider.name)}
        >
          Sign in with {provider.title}
        </Button>
      ))}
      {problem !== null && (
        <p className={styles.error} role="alert">
          {problem.detail}
        </p>
      )}
      {options.password && options.providers.length > 0 && <p className={styles.divider}>or</p>}
    </>
  )
}

function PasswordForm({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      onSignedIn(await signInWithPassword(name.trim(), password))
    } catch (error) {
      const { status, detail } = asProblem(error)
      setProblem(status === 401 || status === 403 ? 'The name and the password do not fit.' : detail)
      setBusy(false)
    }
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        label="Name or e-mail address"
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
        error={problem}
      />
      <Button type="submit" variant="filled" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  )
}

function TokenForm({ initialProblem, onSignedIn }: Props) {
  const [pasted, setPasted] = useState('')
  const [problem, setProblem] = useState<string | null>(initialProblem && problemText(initialProblem))
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const token = extractToken(pasted)
    if (token === null) {
      setProblem('This holds no token. Paste the whole link, or what follows “token=” in it.')
      return
    }
    setBusy(true)
    try {
      onSignedIn(await signInWithToken(token))
    } catch (error) {
      setProblem(problemText(asProblem(error)))
      setBusy(false)
    }
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <p className={styles.text}>
        Cairn printed a start link in the terminal where it runs (<code>make run</code> or{' '}
        <code>cairn serve</code>). Open that link, or paste it here.
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
      <Button type="submit" variant="filled" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
    </form>
  )
}

function problemText(problem: Problem): string {
  return problem.status === 401 || problem.status === 403
    ? 'This token is not valid, or no longer. The newest start link is in the terminal where Cairn runs.'
    : problem.detail
}
