import { Button } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { Approval } from '~/api/types'
import { approveLabel } from '~/lib/actions'
import { isStale, type Problem } from '~/lib/problems'
import { useKeys } from '~/lib/shortcuts'
import { Kbd } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { type Ask, asksOf } from './decisions'
import { WordsDialog } from './FeedbackDialog'
import type { Deciding } from './useDecision'

type Props = {
  approval: Pick<Approval, 'execution_id' | 'operation_type' | 'risk_level'>
  possible: readonly string[]
  deciding: Deciding
  /** Kept with the decision; a dialog opens with it. */
  comment: string
  onModify?: () => void
  /** The key of a decision that was asked for in the queue: its dialog opens, or its button has the focus. */
  first?: string
  onDecided?: () => void
}

const isRisky = (risk: Approval['risk_level']) => risk === 'high' || risk === 'critical'

/** The decisions that are possible, each with its key. The key of a risky approval only moves the focus: ↵ confirms. */
export function DecisionButtons({
  approval,
  possible,
  deciding,
  comment,
  onModify,
  first,
  onDecided,
}: Props) {
  const { busy, problem, take, forget } = deciding
  const [dialog, setDialog] = useState<[string, Ask] | null>(null)
  const primary = useRef<HTMLButtonElement>(null)
  const asks = useMemo(
    () => asksOf(possible).filter(([name]) => name !== 'modify' || onModify !== undefined),
    [possible, onModify],
  )
  const decide = async (name: string, ask: Ask, said = {}) => {
    const words = ask.dialog === undefined && comment.trim() !== '' ? { feedback: comment.trim() } : {}
    const stored = await take(name, ask.done, { ...words, ...said })
    if (stored) onDecided?.()
    return stored
  }
  const act = (name: string, ask: Ask) => {
    if (name === 'modify') onModify?.()
    else if (ask.dialog) setDialog([name, ask])
    else void decide(name, ask)
  }
  const press = (name: string, ask: Ask) => {
    if (ask.weight === 'primary' && isRisky(approval.risk_level)) primary.current?.focus()
    else act(name, ask)
  }
  useDecisionKeys(asks, press)
  useFirst(first, asks, (name, ask) => (ask.weight === 'primary' ? primary.current?.focus() : act(name, ask)))
  useEffect(() => {
    if (problem !== null && isStale(problem)) setDialog(null)
  }, [problem])

  return (
    <>
      {asks.map(([name, ask]) => (
        <Button
          key={name}
          ref={ask.weight === 'primary' ? primary : undefined}
          size="md"
          variant={ask.weight === 'primary' ? 'filled' : ask.weight === 'danger' ? 'subtle' : 'default'}
          color={ask.weight === 'danger' ? 'red' : undefined}
          leftSection={name === 'approve' && <IconCheck size={16} aria-hidden="true" />}
          loading={busy === name && dialog === null}
          disabled={busy !== null && busy !== name}
          data-decision={name}
          data-asked={(first !== undefined && ask.key === first) || undefined}
          onClick={() => act(name, ask)}
        >
          {name === 'approve' ? approveLabel(approval.operation_type) : ask.label}
          {ask.dialog && '…'}
          {ask.key && <Kbd>{ask.key}</Kbd>}
        </Button>
      ))}
      <WordsDialog
        key={dialog?.[0] ?? 'none'}
        ask={dialog?.[1] ?? null}
        draftOf={`${approval.execution_id}:${dialog?.[0] ?? ''}`}
        begun={comment}
        problem={problem}
        busy={busy !== null}
        onClose={() => {
          setDialog(null)
          forget()
        }}
        onSend={async (words) => {
          if (dialog === null) return false
          const [name, ask] = dialog
          const stored = await decide(name, ask, { [ask.dialog?.field ?? 'feedback']: words })
          if (stored) setDialog(null)
          return stored
        }}
      />
    </>
  )
}

function useDecisionKeys(asks: [string, Ask][], act: (name: string, ask: Ask) => void): void {
  const keys = useMemo(
    () =>
      Object.fromEntries(
        asks.flatMap(([name, ask]) => (ask.key ? [[ask.key.toLowerCase(), () => act(name, ask)]] : [])),
      ),
    [asks, act],
  )
  useKeys(keys)
}

/** Does once what was asked for by a key in the queue. */
function useFirst(
  first: string | undefined,
  asks: [string, Ask][],
  act: (name: string, ask: Ask) => void,
): void {
  const done = useRef(false)
  const found = asks.find(([, ask]) => first !== undefined && ask.key === first)
  useEffect(() => {
    if (done.current || found === undefined) return
    done.current = true
    act(...found)
  })
}

/** What was looked at is not there any more. */
export function ChangedNotice({ onLook, children }: { onLook: () => void; children: ReactNode }) {
  return (
    <Notice
      tone="ochre"
      title="This changed while you read it."
      actions={<Button onClick={onLook}>Show it as it is now</Button>}
    >
      {children} Nothing was decided.
    </Notice>
  )
}

export function RefusedNotice({ problem }: { problem: Problem }) {
  return (
    <Notice tone={isStale(problem) ? 'ochre' : 'red'} title="Your decision was not recorded.">
      {problem.detail} What you wrote is kept.
    </Notice>
  )
}
