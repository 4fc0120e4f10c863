import { Button, Modal, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { isStale, type Problem } from '~/lib/problems'
import { DialogActions } from '~/ui/DialogActions'
import { Notice } from '~/ui/Notice'
import type { DecisionOption } from './decisions'

type Props = {
  option: DecisionOption | null
  draftName: string
  /** The text that was entered before the dialog was opened. */
  initialText?: string
  problem: Problem | null
  busy: boolean
  onClose: () => void
  /** True when the decision is stored. */
  onSubmit: (text: string) => Promise<boolean>
}

function readFeedback(key: string): string | undefined {
  const text = readDraft(sessionStorage, key)?.text
  return typeof text === 'string' ? text : undefined
}

/** Unsent texts from the dialogs of an execution. */
export function unsentFeedback(executionId: string): string[] {
  return ['revise', 'reject'].flatMap(
    (name) => readFeedback(draftKey(`${executionId}:${name}`, 0, 'feedback')) ?? [],
  )
}

/** Asks for the text of a decision. The text survives errors and reloads. */
export function FeedbackDialog({
  option,
  draftName,
  initialText = '',
  problem,
  busy,
  onClose,
  onSubmit,
}: Props) {
  const key = draftKey(draftName, 0, 'feedback')
  const [text, setText] = useState(() => readFeedback(key) ?? initialText)
  const [missing, setMissing] = useState(false)
  const dialog = option?.dialog
  const updateText = (next: string) => {
    setText(next)
    setMissing(false)
    saveDraft(sessionStorage, key, { text: next })
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') {
      setMissing(true)
      return
    }
    if (await onSubmit(text.trim())) deleteDraft(sessionStorage, key)
  }
  return (
    <Modal opened={dialog !== undefined} onClose={onClose} title={dialog?.title}>
      <form onSubmit={submit}>
        {problem !== null && (
          <Notice
            tone={isStale(problem) ? 'ochre' : 'red'}
            title="Your decision was not recorded. Your text is still here."
          >
            {problem.detail}
          </Notice>
        )}
        <Textarea
          label={dialog?.label}
          description={dialog?.hint}
          value={text}
          onChange={(event) => updateText(event.currentTarget.value)}
          error={missing && 'This field is required.'}
          minRows={3}
          data-autofocus
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="filled"
            color={option?.weight === 'danger' ? 'red' : undefined}
            loading={busy}
          >
            {dialog?.button}
          </Button>
        </DialogActions>
      </form>
    </Modal>
  )
}
