import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { agent as agentQuery, saveAgent } from '~/api/agents'
import type { LibraryAgent } from '~/api/types'
import { nameIn, SAMPLE } from '~/lib/agents'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { asProblem, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import { CheckedText } from '~/ui/YamlEditor'
import styles from './Agents.module.css'

type Props = {
  /** Null for a new one. */
  agent: LibraryAgent | null
  stored: string
  onLeave: () => void
  onSaved?: (warnings: readonly string[]) => void
}

/** An agent in YAML. What is written survives a reload; every fault is told at its line when it is saved. */
export function AgentEditor({ agent, stored, onLeave, onSaved }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const key = draftKey(agent?.name ?? '', agent?.revision ?? 0, 'agent')
  const [text, setText] = useState(() => String(readDraft(sessionStorage, key)?.text ?? stored))
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const name = agent?.name ?? nameIn(text)
  const write = (next: string) => {
    setText(next)
    setProblem(null)
    keepDraft(sessionStorage, key, { text: next })
  }
  const leave = () => {
    dropDraft(sessionStorage, key)
    onLeave()
  }
  const save = async () => {
    if (name === null) return
    setBusy(true)
    setProblem(null)
    try {
      const { warnings, ...saved } = await saveAgent(name, text, agent?.revision ?? 0)
      client.setQueryData(agentQuery(name).queryKey, saved)
      onSaved?.(warnings)
      void client.invalidateQueries({ queryKey: ['agents'] })
      dropDraft(sessionStorage, key)
      tell(`${saved.title} is saved.`)
      await navigate({ to: '/agents/$name', params: { name }, search: {} })
    } catch (error) {
      setProblem(asProblem(error))
      setBusy(false)
    }
  }
  return (
    <CheckedText
      label="Agent in YAML"
      hint="It is checked when you save it: every fault is told at its line."
      text={text}
      onChange={write}
      checks="agent check"
      extra={(problem?.errors ?? []).map((fault) => ({ ...fault, severity: 'error' }))}
      foot={
        <div className={styles.foot}>
          {agent === null && text.trim() === '' && (
            <Button onClick={() => write(SAMPLE)}>Begin with an example</Button>
          )}
          {agent === null && text.trim() !== '' && name === null && (
            <p className={styles.quiet}>
              It needs a name: a line such as <code>name: fact-checker</code>.
            </p>
          )}
          {agent?.is_ready_made && (
            <Notice tone="grey" title="It comes with Cairn.">
              What you save stands in its place. Remove yours, and Cairn's is back.
            </Notice>
          )}
          {problem !== null && <Refusal title="Not saved. Your text is kept." error={problem} />}
          <div className={styles.buttons}>
            <Button onClick={leave}>Discard the changes</Button>
            <Button
              variant="filled"
              loading={busy}
              disabled={name === null || text.trim() === '' || text === stored}
              onClick={() => void save()}
            >
              Save the agent
            </Button>
          </div>
        </div>
      }
    />
  )
}
