import { Button, Modal, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { decideBatch } from '~/api/commands'
import type { BatchDecisionResults } from '~/api/types'
import { operationLabel } from '~/lib/actions'
import { pluralize } from '~/lib/formatting'
import { DialogActions } from '~/ui/DialogActions'
import { Notice } from '~/ui/Notice'
import type { PendingItem } from '~/ui/PendingRows'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './ApprovalsPage.module.css'

type Decision = 'approve' | 'reject'
type Props = {
  items: readonly PendingItem[]
  decision: Decision | null
  onClose: () => void
  onDone: () => void
}

const DONE: Record<Decision, string> = { approve: 'approved', reject: 'rejected' }

/** Makes the same decision on several approvals. Shows them first and reports those that failed. */
export function BatchDialog({ items, decision, onClose, onDone }: Props) {
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [missing, setMissing] = useState(false)
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: (chosen: Decision) => {
      const approvals = items.flatMap((item) => (item.approval === null ? [] : [item.approval]))
      return decideBatch(approvals, chosen, text.trim())
    },
    onSuccess: (decided, chosen) => {
      if (decided.failed > 0) return
      showToast(`${decided.decided} ${DONE[chosen]}.`)
      onDone()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  })
  const result = data !== undefined && data.failed > 0 ? data : null
  const rejects = decision === 'reject'
  const name = nameOf(items)

  const send = (event: FormEvent) => {
    event.preventDefault()
    if (decision === null) return
    if (rejects && text.trim() === '') {
      setMissing(true)
      return
    }
    mutate(decision)
  }

  return (
    <Modal
      opened={decision !== null}
      onClose={result === null ? onClose : onDone}
      title={`${rejects ? 'Reject' : 'Approve'} ${items.length}: ${name}`}
    >
      {result !== null && decision !== null ? (
        <BatchResult result={result} items={items} verb={DONE[decision]} onClose={onDone} />
      ) : (
        <form onSubmit={send}>
          {error !== null && <ProblemNotice title="Couldn't record your decisions." error={error} />}
          <Preview items={items} rejects={rejects} />
          <Textarea
            label={rejects ? 'Reason' : 'Comment (optional)'}
            description="Saved with each decision."
            value={text}
            error={missing && 'Enter a reason.'}
            onChange={(event) => {
              setText(event.currentTarget.value)
              setMissing(false)
            }}
            data-autofocus
          />
          <DialogActions note="Approvals that changed in the meantime are skipped.">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="filled" color={rejects ? 'red' : undefined} loading={isPending}>
              {rejects ? `Reject ${items.length}` : `Approve ${items.length}`}
            </Button>
          </DialogActions>
        </form>
      )}
    </Modal>
  )
}

function nameOf(items: readonly PendingItem[]): string {
  const first = items[0]
  const operation = first?.approval?.operation_type
  return operation ? operationLabel(operation) : (first?.title ?? '')
}

function Preview({ items, rejects }: { items: readonly PendingItem[]; rejects: boolean }) {
  const runs = new Set(items.map((item) => item.runId)).size
  const risky = items.filter((item) => item.risk === 'high' || item.risk === 'critical').length
  return (
    <>
      <p>
        {rejects
          ? `${pluralize(runs, 'run')} will fail with your reason.`
          : `${pluralize(runs, 'run')} will continue.`}
        {risky > 0 && ` ${risky} of ${items.length} ${risky === 1 ? 'is' : 'are'} high risk.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <ul className={styles.list} tabIndex={0} aria-label="Selected approvals">
        {items.map((item) => (
          <li key={item.id}>
            {item.title} <span>{item.location}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

type BatchResultProps = {
  result: BatchDecisionResults
  items: readonly PendingItem[]
  verb: string
  onClose: () => void
}

function BatchResult({ result, items, verb, onClose }: BatchResultProps) {
  const whereOf = new Map(items.map((item) => [item.id, item.location]))
  return (
    <>
      <Notice tone="ochre" title={`${result.decided} ${verb}, ${result.failed} not.`}>
        These approvals were not {verb}:
      </Notice>
      <ul className={styles.list}>
        {result.items
          .filter((item) => item.error_message !== null)
          .map((item) => (
            <li key={item.approval_id}>
              {whereOf.get(item.approval_id)} <strong>{item.error_message}</strong>
            </li>
          ))}
      </ul>
      <DialogActions>
        <Button variant="filled" onClick={onClose} data-autofocus>
          Back to approvals
        </Button>
      </DialogActions>
    </>
  )
}
