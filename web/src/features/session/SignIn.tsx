import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { signIn } from '~/api/changes'
import type { Session } from '~/api/types'
import { asProblem, type Problem } from '~/lib/problems'
import { tokenIn } from '~/lib/tokens'
import { Mark } from '~/ui/Mark'
import styles from './Session.module.css'

type Props = { refusal: Problem | null; onSignedIn: (session: Session) => void }

/** Signs in with the start link or its token. */
export function SignIn({ refusal, onSignedIn }: Props) {
  const [pasted, setPasted] = useState('')
  const [problem, setProblem] = useState<string | null>(refusal && refusalInWords(refusal))
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Cairn'
  }, [])

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
    <main className={styles.gate}>
      <form className={styles.card} onSubmit={submit}>
        <Mark size={40} />
        <h1>Sign in to Cairn</h1>
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
          data-autofocus
          autoFocus
        />
        <Button type="submit" variant="filled" size="md" loading={busy} fullWidth>
          Sign in
        </Button>
      </form>
    </main>
  )
}

function refusalInWords(problem: Problem): string {
  return problem.status === 401 || problem.status === 403
    ? 'This token is not valid, or no longer. The newest start link is in the terminal where Cairn runs.'
    : problem.detail
}
