import { Button, Modal, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { decideBatch } from '~/api/commands'
import type { BatchDecided } from '~/api/types'
import { operationWord } from '~/lib/actions'
import { count } from '~/lib/formatting'
import { Actions } from '~/ui/DialogActions'
import { Notice } from '~/ui/Notice'
import type { Waiting } from '~/ui/PendingRows'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './ApprovalsPage.module.css'

type Decision = 'approve' | 'reject'
type Props = {
  items: readonly Waiting[]
  decision: Decision | null
  onClose: () => void
  onDone: () => void
}

const DONE: Record<Decision, string> = { approve: 'approved', reject: 'rejected' }

/** The same decision on several: says first how many and which, then what came of each. */
export function BatchDialog({ items, decision, onClose, onDone }: Props) {
  const client = useQueryClient()
  const [words, setWords] = useState('')
  const [missing, setMissing] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [result, setResult] = useState<BatchDecided | null>(null)
  const rejects = decision === 'reject'
  const what = nameOf(items)

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (decision === null) return
    if (rejects && words.trim() === '') {
      setMissing(true)
      return
    }
    setBusy(true)
    setError(null)
    try {
      const approvals = items.flatMap((item) => (item.approval === null ? [] : [item.approval]))
      const decided = await decideBatch(approvals, decision, words.trim())
      if (decided.refused > 0) setResult(decided)
      else {
        tell(`${decided.decided} ${DONE[decision]}.`)
        onDone()
      }
    } catch (fault) {
      setError(fault)
    } finally {
      await client.invalidateQueries({ queryKey: ['approvals'] })
      setBusy(false)
    }
  }

  return (
    <Modal
      opened={decision !== null}
      onClose={result === null ? onClose : onDone}
      title={`${rejects ? 'Reject' : 'Approve'} ${items.length}: ${what}`}
    >
      {result !== null && decision !== null ? (
        <Came result={result} items={items} done={DONE[decision]} onClose={onDone} />
      ) : (
        <form onSubmit={send}>
          {error !== null && <Refusal title="Nothing was decided." error={error} />}
          <Preview items={items} rejects={rejects} />
          <Textarea
            label={rejects ? 'Reason' : 'Comment (optional)'}
            description="Kept with each decision."
            value={words}
            error={missing && 'Say it in a few words first.'}
            onChange={(event) => {
              setWords(event.currentTarget.value)
              setMissing(false)
            }}
            data-autofocus
          />
          <Actions note="Each is decided as it is shown now; what changed since is refused.">
            <Button onClick={onClose}>Keep them waiting</Button>
            <Button type="submit" variant="filled" color={rejects ? 'red' : undefined} loading={busy}>
              {rejects ? `Reject ${items.length}` : `Approve ${items.length}`}
            </Button>
          </Actions>
        </form>
      )}
    </Modal>
  )
}

function nameOf(items: readonly Waiting[]): string {
  const first = items[0]
  const operation = first?.approval?.operation_type
  return operation ? operationWord(operation) : (first?.title ?? '')
}

function Preview({ items, rejects }: { items: readonly Waiting[]; rejects: boolean }) {
  const runs = new Set(items.map((item) => item.runId)).size
  const risky = items.filter((item) => item.risk === 'high' || item.risk === 'critical').length
  return (
    <>
      <p>
        {rejects
          ? `${count(runs, 'run')} ${runs === 1 ? 'fails' : 'fail'} with your reason.`
          : `${count(runs, 'run')} ${runs === 1 ? 'goes' : 'go'} on.`}
        {risky > 0 && ` ${risky} of ${items.length} ${risky === 1 ? 'is' : 'are'} of high risk.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <ul className={styles.list} tabIndex={0} aria-label="What is decided">
        {items.map((item) => (
          <li key={item.id}>
            {item.title} <span>{item.where}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

type CameProps = { result: BatchDecided; items: readonly Waiting[]; done: string; onClose: () => void }

function Came({ result, items, done, onClose }: CameProps) {
  const whereOf = new Map(items.map((item) => [item.id, item.where]))
  return (
    <>
      <Notice tone="ochre" title={`${result.decided} ${done}, ${result.refused} not.`}>
        What was not {done} is told here.
      </Notice>
      <ul className={styles.list}>
        {result.items
          .filter((item) => item.error !== null)
          .map((item) => (
            <li key={item.approval_id}>
              {whereOf.get(item.approval_id)} <strong>{item.error}</strong>
            </li>
          ))}
      </ul>
      <Actions>
        <Button variant="filled" onClick={onClose} data-autofocus>
          Back to the queue
        </Button>
      </Actions>
    </>
  )
}
