import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { decide } from '~/api/changes'
import type { Approval, Artifact } from '~/api/types'
import { changedArtifacts } from '~/lib/changes'
import { left } from '~/lib/durations'
import { useKeys } from '~/lib/keys'
import { asProblem, isStale, type Problem } from '~/lib/problems'
import { count, shortDigest } from '~/lib/sizes'
import { question } from '~/lib/states'
import { Bar } from '~/ui/Bar'
import { Kbd } from '~/ui/Kbd'
import { Notice } from '~/ui/Notice'
import { useNow } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import { type Ask, asksOf } from './decisions'
import { WordsDialog } from './WordsDialog'

type Shown = { approval: Approval; artifacts: readonly Artifact[] }
type Props = Shown & {
  revision: string | null
  mayDecide: boolean
  onLook: () => void
  /** Another decision was first, or the work changed. The bar may be gone by then. */
  onTooLate: (problem: Problem) => void
}

/**
 * Asks for a decision on exactly what is shown. What was shown first stays pinned: if it changes while somebody reads,
 * that is said, and nothing is decided until they looked again.
 */
export function DecisionBar({ approval, artifacts, revision, mayDecide, onLook, onTooLate }: Props) {
  const client = useQueryClient()
  const now = useNow()
  const [shown, setShown] = useState<Shown>({ approval, artifacts })
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [dialog, setDialog] = useState<[string, Ask] | null>(null)
  const changed = approval.digest !== shown.approval.digest
  useEffect(() => {
    // The list of artifacts may arrive after the question.
    if (!changed) setShown({ approval, artifacts })
  }, [changed, approval, artifacts])

  const take = async (decision: string, ask: Ask, words: { feedback?: string; reason?: string } = {}) => {
    setBusy(decision)
    setProblem(null)
    try {
      await decide({ approval_id: approval.approval_id, digest: shown.approval.digest }, decision, words)
      setDialog(null)
      tell(ask.done)
      return true
    } catch (error) {
      const refusal = asProblem(error)
      setProblem(refusal)
      if (isStale(refusal)) {
        setDialog(null)
        onTooLate(refusal)
      }
      return false
    } finally {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['run', approval.run_id] }),
        client.invalidateQueries({ queryKey: ['approvals'] }),
      ])
      setBusy(null)
    }
  }

  const asks = mayDecide && !changed ? asksOf(approval.possible) : []
  useDecisionKeys(asks, (name, ask) => (ask.dialog ? setDialog([name, ask]) : void take(name, ask)))

  const look = () => {
    setShown({ approval, artifacts })
    setProblem(null)
    onLook()
  }
  const facts = [
    artifacts.length > 0 && count(artifacts.length, 'artifact'),
    revision,
    approval.needed > 1 && `${approval.given} of ${approval.needed} approvals given`,
    left(approval.expires_at, now),
    approval.reason,
  ].filter(Boolean)

  return (
    <>
      <Bar
        state={{ tone: 'ochre', sign: approval.kind === 'escalation' ? 'alert' : 'person', word: '' }}
        title={`${question(approval)}?`}
        detail={
          <>
            {facts.map((fact) => `${fact} · `)}digest <code>{shortDigest(approval.digest)}</code>
            {!mayDecide && ' · your role may look, not decide'}
          </>
        }
        notice={
          changed ? (
            <Notice
              tone="ochre"
              title="This changed while you read it."
              actions={<Button onClick={look}>Show it as it is now</Button>}
            >
              {changedArtifacts(shown.artifacts, artifacts).join(', ') ||
                'What you decide on is no longer the same'}
              . Nothing was decided.
            </Notice>
          ) : (
            problem !== null &&
            dialog === null && (
              <Notice tone={isStale(problem) ? 'ochre' : 'red'} title="Your decision was not recorded.">
                {problem.detail} What you wrote is kept.
              </Notice>
            )
          )
        }
        actions={asks.map(([name, ask]) => (
          <Button
            key={name}
            size="md"
            variant={ask.weight === 'primary' ? 'filled' : ask.weight === 'danger' ? 'subtle' : 'default'}
            color={ask.weight === 'danger' ? 'red' : undefined}
            loading={busy === name && dialog === null}
            disabled={busy !== null && busy !== name}
            onClick={() => (ask.dialog ? setDialog([name, ask]) : void take(name, ask))}
          >
            {ask.label}
            {ask.dialog && '…'}
            {ask.key && <Kbd>{ask.key}</Kbd>}
          </Button>
        ))}
      />
      <WordsDialog
        key={dialog?.[0] ?? 'none'}
        ask={dialog?.[1] ?? null}
        draftOf={`${approval.execution_id}:${dialog?.[0] ?? ''}`}
        problem={problem}
        busy={busy !== null}
        onClose={() => {
          setDialog(null)
          setProblem(null)
        }}
        onSend={(words) =>
          dialog === null
            ? Promise.resolve(false)
            : take(dialog[0], dialog[1], { [dialog[1].dialog?.field ?? 'feedback']: words })
        }
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
