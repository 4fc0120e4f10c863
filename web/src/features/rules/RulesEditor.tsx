import { Button, TextInput } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { backtest, checkRules, rules, type Scope, saveRules } from '~/api/rules'
import type { RuleText } from '~/api/types'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { asProblem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import { YamlEditor } from '~/ui/YamlEditor'
import { BacktestResult } from './BacktestResult'
import { EXAMPLE_RULES } from './exampleRules'
import styles from './Rules.module.css'

type Props = { scope: Scope; stored: RuleText; onEdit: (editing: boolean) => void }

/** Edits rules as YAML, with validation and backtest. */
export function RulesEditor({ scope, stored, onEdit }: Props) {
  const client = useQueryClient()
  const key = draftKey(scope ?? 'all', 0, 'rules')
  const { draft, write: updateDraft, discard } = useDraft(key, stored)
  const [comment, setComment] = useState('')
  const backtestRun = useMutation({ mutationFn: (text: string) => backtest(scope, text) })
  const leave = () => {
    discard()
    onEdit(false)
  }
  const save = useMutation({
    mutationFn: (revision: number) => saveRules(scope, draft.text, revision, comment.trim()),
    onSuccess: (saved) => {
      client.setQueryData(rules(scope).queryKey, saved)
      void client.invalidateQueries({ queryKey: ['rules'] })
      showToast(`Published version ${saved.revision}.`)
      leave()
    },
    onError: (error) => {
      if (asProblem(error).status === 412) void client.invalidateQueries({ queryKey: ['rules'] })
    },
  })
  const problem = save.error === null ? null : asProblem(save.error)
  const isOutdated = draft.revision !== stored.revision || problem?.status === 412
  const updateText = (text: string) => {
    updateDraft(text)
    if (save.isError) save.reset()
  }
  return (
    <>
      <YamlEditor
        label="Rules (YAML)"
        hint="Write or paste rules. They are validated as you type."
        text={draft.text}
        onChange={updateText}
        checkName="rules check"
        check={checkRules}
        footer={
          <div className={styles.footer}>
            {draft.text.trim() === '' && (
              <Button onClick={() => updateText(EXAMPLE_RULES)}>Start from an example</Button>
            )}
            {isOutdated && (
              <Notice tone="ochre" title="Someone else saved new rules. Your text is still here.">
                Your edit is based on version {draft.revision}. See the versions for newer changes.
              </Notice>
            )}
            {problem !== null && !isOutdated && (
              <ProblemNotice
                title="Couldn't publish the rules. The previous rules are still active."
                error={problem}
              />
            )}
            <TextInput
              label="Change comment (optional)"
              value={comment}
              maxLength={2000}
              onChange={(event) => setComment(event.currentTarget.value)}
            />
            <div className={styles.buttons}>
              <Button onClick={leave}>Discard changes</Button>
              <Button
                leftSection={<IconHistory size={16} />}
                loading={backtestRun.isPending}
                disabled={draft.text.trim() === ''}
                onClick={() => backtestRun.mutate(draft.text)}
              >
                Backtest
              </Button>
              <Button
                variant="filled"
                color={isOutdated ? 'red' : undefined}
                loading={save.isPending}
                disabled={draft.text === stored.text}
                onClick={() => save.mutate(isOutdated ? stored.revision : draft.revision)}
              >
                {isOutdated ? 'Overwrite' : 'Publish rules'}
              </Button>
            </div>
          </div>
        }
      />
      {backtestRun.error !== null && (
        <ProblemNotice title="Couldn't run the backtest." error={backtestRun.error} />
      )}
      {backtestRun.data !== undefined && (
        <BacktestResult result={backtestRun.data} isOutdated={backtestRun.variables !== draft.text} />
      )}
    </>
  )
}

/** An edit keeps the revision it started from, also after a reload. */
function useDraft(key: string, stored: RuleText) {
  const [draft, setDraft] = useState(() => {
    const saved = readDraft(sessionStorage, key)
    return saved === null
      ? { text: stored.text, revision: stored.revision }
      : { text: String(saved.text), revision: Number(saved.revision) }
  })
  const updateDraft = (text: string) => {
    const next = { ...draft, text }
    setDraft(next)
    saveDraft(sessionStorage, key, next)
  }
  return { draft, write: updateDraft, discard: () => deleteDraft(sessionStorage, key) }
}
