import { Button } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { Approval } from '~/api/types'
import { approveLabel } from '~/lib/actions'
import { isStale, type Problem } from '~/lib/problems'
import { useShortcuts } from '~/lib/shortcuts'
import { KeyHint } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { type DecisionOption, decisionOptions } from './decisions'
import { FeedbackDialog } from './FeedbackDialog'
import type { DecisionState } from './useDecision'

type Props = {
  approval: Pick<Approval, 'execution_id' | 'operation_type' | 'risk_level'>
  possible: readonly string[]
  decision: DecisionState
  /** Saved with the decision, and the initial text of a dialog. */
  comment: string
  /** What approving a repeated action does. Null until it is chosen, which disables approving. */
  onRepeat?: 'use_earlier' | 'execute_again' | null
  onModify?: () => void
  /** The shortcut that was pressed in the list. It opens the dialog of that decision or focuses its button. */
  initialShortcut?: string
  onDecided?: () => void
}

const isRisky = (risk: Approval['risk_level']) => risk === 'high' || risk === 'critical'

/** The possible decisions with their shortcuts. For a risky approval, the shortcut only moves the focus and Enter confirms. */
export function DecisionButtons({
  approval,
  possible,
  decision,
  comment,
  onRepeat,
  onModify,
  initialShortcut,
  onDecided,
}: Props) {
  const { busy, problem, submit, clearProblem } = decision
  const [dialog, setDialog] = useState<[string, DecisionOption] | null>(null)
  const primary = useRef<HTMLButtonElement>(null)
  const options = useMemo(
    () => decisionOptions(possible).filter(([name]) => name !== 'modify' || onModify !== undefined),
    [possible, onModify],
  )
  const decide = async (name: string, option: DecisionOption, extra = {}) => {
    const comments = option.dialog === undefined && comment.trim() !== '' ? { feedback: comment.trim() } : {}
    const isStored = await submit(name, option.done, { ...comments, ...extra })
    if (isStored) onDecided?.()
    return isStored
  }
  const isBlocked = (name: string) => name === 'approve' && onRepeat === null
  const choose = (name: string, option: DecisionOption) => {
    if (isBlocked(name)) return
    if (name === 'modify') onModify?.()
    else if (option.dialog) setDialog([name, option])
    else void decide(name, option, name === 'approve' && onRepeat ? { on_repeat: onRepeat } : {})
  }
  const handleShortcut = (name: string, option: DecisionOption) => {
    if (option.weight === 'primary' && isRisky(approval.risk_level)) primary.current?.focus()
    else choose(name, option)
  }
  useDecisionShortcuts(options, handleShortcut)
  useInitialShortcut(initialShortcut, options, (name, option) =>
    option.weight === 'primary' ? primary.current?.focus() : choose(name, option),
  )
  useEffect(() => {
    if (problem !== null && isStale(problem)) setDialog(null)
  }, [problem])

  return (
    <>
      {options.map(([name, option]) => (
        <Button
          key={name}
          ref={option.weight === 'primary' ? primary : undefined}
          size="md"
          variant={option.weight === 'primary' ? 'filled' : option.weight === 'danger' ? 'subtle' : 'default'}
          color={option.weight === 'danger' ? 'red' : undefined}
          leftSection={name === 'approve' && <IconCheck size={16} aria-hidden="true" />}
          loading={busy === name && dialog === null}
          disabled={isBlocked(name) || (busy !== null && busy !== name)}
          data-decision={name}
          data-preselected={(initialShortcut !== undefined && option.key === initialShortcut) || undefined}
          onClick={() => choose(name, option)}
        >
          {name !== 'approve'
            ? option.label
            : onRepeat === 'use_earlier'
              ? 'Use earlier result'
              : approveLabel(approval.operation_type)}
          {option.dialog && '…'}
          {option.key && <KeyHint>{option.key}</KeyHint>}
        </Button>
      ))}
      <FeedbackDialog
        key={dialog?.[0] ?? 'none'}
        option={dialog?.[1] ?? null}
        draftName={`${approval.execution_id}:${dialog?.[0] ?? ''}`}
        initialText={comment}
        problem={problem}
        busy={busy !== null}
        onClose={() => {
          setDialog(null)
          clearProblem()
        }}
        onSubmit={async (comments) => {
          if (dialog === null) return false
          const [name, option] = dialog
          const isStored = await decide(name, option, { [option.dialog?.field ?? 'feedback']: comments })
          if (isStored) setDialog(null)
          return isStored
        }}
      />
    </>
  )
}

function useDecisionShortcuts(
  options: [string, DecisionOption][],
  choose: (name: string, option: DecisionOption) => void,
): void {
  const keys = useMemo(
    () =>
      Object.fromEntries(
        options.flatMap(([name, option]) =>
          option.key ? [[option.key.toLowerCase(), () => choose(name, option)]] : [],
        ),
      ),
    [options, choose],
  )
  useShortcuts(keys)
}

/** Applies the shortcut from the list once. */
function useInitialShortcut(
  initialShortcut: string | undefined,
  options: [string, DecisionOption][],
  choose: (name: string, option: DecisionOption) => void,
): void {
  const done = useRef(false)
  const option = options.find(([, option]) => initialShortcut !== undefined && option.key === initialShortcut)
  useEffect(() => {
    if (done.current || option === undefined) return
    done.current = true
    choose(...option)
  })
}

/** Warns that the content changed since it was shown. */
export function ChangedNotice({
  onShowCurrent,
  children,
}: {
  onShowCurrent: () => void
  children: ReactNode
}) {
  return (
    <Notice
      tone="ochre"
      title="This approval changed while you were viewing it."
      actions={<Button onClick={onShowCurrent}>Show current version</Button>}
    >
      {children} No decision was recorded.
    </Notice>
  )
}

export function RefusedNotice({ problem }: { problem: Problem }) {
  return (
    <Notice tone={isStale(problem) ? 'ochre' : 'red'} title="Your decision was not recorded.">
      {problem.detail} Your text is still here.
    </Notice>
  )
}
