import { Button, TextInput } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { backtest, checkRules, rules, type Scope, saveRules } from '~/api/rules'
import type { RuleText } from '~/api/types'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { asProblem, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import { CheckedText } from '~/ui/YamlEditor'
import { BacktestView } from './BacktestResult'
import { SAMPLE } from './exampleRules'
import styles from './Rules.module.css'

type Props = { scope: Scope; stored: RuleText; onEdit: (editing: boolean) => void }

/** Rules in YAML, checked while one writes, tried on what people decided, then saved. */
export function RulesEditor({ scope, stored, onEdit }: Props) {
  const client = useQueryClient()
  const key = draftKey(scope ?? 'all', 0, 'rules')
  const { draft, write, drop } = useDraft(key, stored)
  const [comment, setComment] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const trial = useMutation({ mutationFn: (text: string) => backtest(scope, text) })
  const leave = () => {
    drop()
    onEdit(false)
  }
  const save = async (revision: number) => {
    setBusy(true)
    setProblem(null)
    try {
      const saved = await saveRules(scope, draft.text, revision, comment.trim())
      client.setQueryData(rules(scope).queryKey, saved)
      void client.invalidateQueries({ queryKey: ['rules'] })
      tell(`Revision ${saved.revision} is in force.`)
      leave()
    } catch (error) {
      const refusal = asProblem(error)
      setProblem(refusal)
      setBusy(false)
      if (refusal.status === 412) void client.invalidateQueries({ queryKey: ['rules'] })
    }
  }
  const behind = draft.revision !== stored.revision || problem?.status === 412
  const change = (text: string) => {
    write(text)
    setProblem(null)
  }
  return (
    <>
      <CheckedText
        label="Rules in YAML"
        hint="Write or paste rules; they are checked as you go."
        text={draft.text}
        onChange={change}
        checks="rules check"
        check={checkRules}
        foot={
          <div className={styles.foot}>
            {draft.text.trim() === '' && (
              <Button onClick={() => change(SAMPLE)}>Begin with an example</Button>
            )}
            {behind && (
              <Notice tone="ochre" title="Somebody saved other rules. Your text is kept.">
                It began with revision {draft.revision}. Look at the versions for what was changed since.
              </Notice>
            )}
            {problem !== null && !behind && (
              <Refusal title="Not saved, the rules before are in force. Your text is kept." error={problem} />
            )}
            <TextInput
              label="Why it is changed (optional)"
              value={comment}
              maxLength={2000}
              onChange={(event) => setComment(event.currentTarget.value)}
            />
            <div className={styles.buttons}>
              <Button onClick={leave}>Discard the changes</Button>
              <Button
                leftSection={<IconHistory size={16} />}
                loading={trial.isPending}
                disabled={draft.text.trim() === ''}
                onClick={() => trial.mutate(draft.text)}
              >
                Try on past decisions
              </Button>
              <Button
                variant="filled"
                color={behind ? 'red' : undefined}
                loading={busy}
                disabled={draft.text === stored.text}
                onClick={() => void save(behind ? stored.revision : draft.revision)}
              >
                {behind ? 'Save over it' : 'Put in force'}
              </Button>
            </div>
          </div>
        }
      />
      {trial.error !== null && <Refusal title="The rules could not be tried." error={trial.error} />}
      {trial.data !== undefined && (
        <BacktestView outcome={trial.data} isOld={trial.variables !== draft.text} />
      )}
    </>
  )
}

/** An edit belongs to the revision it began with, also after a reload. */
function useDraft(key: string, stored: RuleText) {
  const [draft, setDraft] = useState(() => {
    const kept = readDraft(sessionStorage, key)
    return kept === null
      ? { text: stored.text, revision: stored.revision }
      : { text: String(kept.text), revision: Number(kept.revision) }
  })
  const write = (text: string) => {
    const next = { ...draft, text }
    setDraft(next)
    keepDraft(sessionStorage, key, next)
  }
  return { draft, write, drop: () => dropDraft(sessionStorage, key) }
}
