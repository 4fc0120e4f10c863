import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Approval, Artifact } from '~/api/types'
import { changedArtifacts } from '~/lib/artifactChanges'
import { timeLeft, timeoutText } from '~/lib/durations'
import { pluralize, shortDigest } from '~/lib/formatting'
import type { Problem } from '~/lib/problems'
import { useShortcuts } from '~/lib/shortcuts'
import { BottomBar } from '~/ui/BottomBar'
import { KeyHint } from '~/ui/KeyHint'
import { useNow } from '~/ui/Time'
import { ChangedNotice, DecisionButtons, RefusedNotice } from './DecisionButtons'
import { useDecision, usePinned } from './useDecision'

type DecisionSubject = { approval: Approval; artifacts: readonly Artifact[] }
type Props = DecisionSubject & {
  revision: string | null
  /** Whether a simulated model contributed. */
  isSimulated: boolean
  /** Whether the user's role can decide. */
  canDecide: boolean
  onShowCurrent: () => void
  /** Called when someone else decided first or the content changed. The bar may be unmounted by then. */
  onStale: (problem: Problem) => void
}

/** The bottom bar of a run that waits for a decision on the content shown. */
export function DecisionBar(props: Props) {
  const { approval, artifacts, revision, isSimulated, canDecide, onShowCurrent, onStale } = props
  const now = useNow()
  const current = useMemo(() => ({ approval, artifacts }), [approval, artifacts])
  const pinned = usePinned(approval.digest, current)
  const decision = useDecision(pinned.shown.approval, onStale)
  const { problem } = decision

  const deadline = timeLeft(approval.expires_at, now)
  const facts = [
    artifacts.length > 0 && pluralize(artifacts.length, 'artifact'),
    isSimulated && 'simulated model',
    revision,
    approval.required_approvals > 1 &&
      `${approval.received_approvals} of ${approval.required_approvals} approvals given`,
    deadline && [deadline, timeoutText(approval)].filter(Boolean).join(', '),
    approval.reason,
    approval.warning,
  ].filter(Boolean)

  return (
    <BottomBar
      state={{ tone: 'ochre', icon: approval.kind === 'escalation' ? 'alert' : 'person', label: '' }}
      title={`${approval.title}?`}
      detail={
        <>
          {facts.map((fact) => `${fact} · `)}digest <code>{shortDigest(approval.digest)}</code>
          {' · '}
          <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }}>
            view details
          </Link>
          {!canDecide && " · your role can't decide"}
          {canDecide && !approval.can_decide && ' · assigned to others'}
        </>
      }
      notice={
        pinned.changed ? (
          <ChangedNotice
            onShowCurrent={() => {
              pinned.showCurrent()
              decision.clearProblem()
              onShowCurrent()
            }}
          >
            {changedArtifacts(pinned.shown.artifacts, artifacts).join(', ') ||
              'The content of this approval changed'}
            .
          </ChangedNotice>
        ) : (
          problem !== null && <RefusedNotice problem={problem} />
        )
      }
      actions={
        approval.can_decide &&
        !pinned.changed && (
          <DecisionButtons
            approval={approval}
            possible={approval.available_decisions}
            decision={decision}
            comment=""
          />
        )
      }
    />
  )
}

/** The bottom bar of a run with a pending action, which is decided on the approval page. */
export function ReviewActionBar({ approval }: { approval: Approval }) {
  const now = useNow()
  const keys = useMemo(() => ({ a: () => document.getElementById('review-action')?.click() }), [])
  useShortcuts(keys)
  return (
    <BottomBar
      state={{ tone: 'ochre', icon: 'person', label: '' }}
      title={`${approval.title}?`}
      detail={[
        approval.risk_level !== null && `${approval.risk_level} risk`,
        approval.confidence !== null && `${Math.round(approval.confidence * 100)}% confidence`,
        timeLeft(approval.expires_at, now),
      ]
        .filter(Boolean)
        .join(' · ')}
      actions={
        <Button
          id="review-action"
          variant="filled"
          size="md"
          renderRoot={(props) => (
            <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }} {...props} />
          )}
        >
          Review action
          <KeyHint>A</KeyHint>
        </Button>
      }
    />
  )
}
