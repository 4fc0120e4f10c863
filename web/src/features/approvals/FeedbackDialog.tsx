import { Button, Modal, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { isStale, type Problem } from '~/lib/problems'
import { Actions } from '~/ui/DialogActions'
import { Notice } from '~/ui/Notice'
import type { Ask } from './decisions'

type Props = {
  ask: Ask | null
  draftOf: string
  /** What was written before the dialog was opened. */
  begun?: string
  problem: Problem | null
  busy: boolean
  onClose: () => void
  /** True when the decision is stored. */
  onSend: (words: string) => Promise<boolean>
}

function kept(key: string): string | undefined {
  const words = readDraft(sessionStorage, key)?.words
  return typeof words === 'string' ? words : undefined
}

/** What was typed into the dialogs of an execution and not sent. */
export function wordsOf(executionId: string): string[] {
  return ['revise', 'reject'].flatMap((name) => kept(draftKey(`${executionId}:${name}`, 0, 'words')) ?? [])
}

/** Asks for the words that a decision needs; a refusal or a reload keeps what was typed. */
export function WordsDialog({ ask, draftOf, begun = '', problem, busy, onClose, onSend }: Props) {
  const key = draftKey(draftOf, 0, 'words')
  const [words, setWords] = useState(() => kept(key) ?? begun)
  const [missing, setMissing] = useState(false)
  const dialog = ask?.dialog
  const write = (next: string) => {
    setWords(next)
    setMissing(false)
    keepDraft(sessionStorage, key, { words: next })
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (words.trim() === '') {
      setMissing(true)
      return
    }
    if (await onSend(words.trim())) dropDraft(sessionStorage, key)
  }
  return (
    <Modal opened={dialog !== undefined} onClose={onClose} title={dialog?.title}>
      <form onSubmit={submit}>
        {problem !== null && (
          <Notice tone={isStale(problem) ? 'ochre' : 'red'} title="Not recorded. Your words are kept.">
            {problem.detail}
          </Notice>
        )}
        <Textarea
          label={dialog?.label}
          description={dialog?.hint}
          value={words}
          onChange={(event) => write(event.currentTarget.value)}
          error={missing && 'Say it in a few words first.'}
          minRows={3}
          data-autofocus
        />
        <Actions>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button
            type="submit"
            variant="filled"
            color={ask?.weight === 'danger' ? 'red' : undefined}
            loading={busy}
          >
            {dialog?.button}
          </Button>
        </Actions>
      </form>
    </Modal>
  )
}
