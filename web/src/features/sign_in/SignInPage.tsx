import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { beginSignIn, signIn, signInByName, signInWays } from '~/api/signIn'
import type { Session, SignInWays } from '~/api/types'
import { asProblem, type Problem } from '~/lib/problems'
import { tokenIn } from '~/lib/startLink'
import styles from './SignIn.module.css'
import { Entrance } from './SignInLayout'

type Props = { refusal: Problem | null; onSignedIn: (session: Session) => void }

/** Signs in: with the company's account, a password, or the start link; only the ways that there are. */
export function SignIn({ refusal, onSignedIn }: Props) {
  const { data: ways, isPending } = useQuery({ ...signInWays(), retry: false })
  const [byToken, setByToken] = useState(refusal !== null)
  if (isPending) return null
  const others = ways !== undefined && (ways.password || ways.providers.length > 0)
  return (
    <Entrance title="Sign in to Cairn">
      {others && !byToken ? (
        <>
          <Providers ways={ways} />
          {ways.password && <ByPassword onSignedIn={onSignedIn} />}
          <Button variant="subtle" onClick={() => setByToken(true)}>
            Use a start link or a token
          </Button>
        </>
      ) : (
        <>
          <ByToken refusal={refusal} onSignedIn={onSignedIn} />
          {others && (
            <Button variant="subtle" onClick={() => setByToken(false)}>
              {ways.password ? 'Use your name and password' : 'Use your company account'}
            </Button>
          )}
        </>
      )}
    </Entrance>
  )
}

function Providers({ ways }: { ways: SignInWays }) {
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const leave = async (provider: string) => {
    setBusy(provider)
    setProblem(null)
    try {
      const { url } = await beginSignIn(provider, location.pathname + location.search)
      location.assign(url)
    } catch (error) {
      setProblem(asProblem(error))
      setBusy(null)
    }
  }
  return (
    <>
      {ways.providers.map((provider) => (
        <Button
          key={provider.name}
          size="md"
          variant={ways.password ? 'default' : 'filled'}
          fullWidth
          loading={busy === provider.name}
          onClick={() => void leave(provider.name)}
        >
          Sign in with {provider.title}
        </Button>
      ))}
      {problem !== null && (
        <p className={styles.refusal} role="alert">
          {problem.detail}
        </p>
      )}
      {ways.password && ways.providers.length > 0 && <p className={styles.or}>or</p>}
    </>
  )
}

function ByPassword({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      onSignedIn(await signInByName(name.trim(), password))
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

function ByToken({ refusal, onSignedIn }: Props) {
  const [pasted, setPasted] = useState('')
  const [problem, setProblem] = useState<string | null>(refusal && refusalInWords(refusal))
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const token = tokenIn(pasted)
    if (token === null) {
      setProblem('This holds no token. Paste the whole link, or what follows “token=” in it.')
      return
    }
    setBusy(true)
    try {
      onSignedIn(await signIn(token))
    } catch (error) {
      setProblem(refusalInWords(asProblem(error)))
      setBusy(false)
    }
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <p className={styles.words}>
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

function refusalInWords(problem: Problem): string {
  return problem.status === 401 || problem.status === 403
    ? 'This token is not valid, or no longer. The newest start link is in the terminal where Cairn runs.'
    : problem.detail
}
