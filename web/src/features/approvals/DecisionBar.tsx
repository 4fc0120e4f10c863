import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Approval, Artifact } from '~/api/types'
import { changedArtifacts } from '~/lib/artifactChanges'
import { left, thenWords } from '~/lib/durations'
import { count, shortDigest } from '~/lib/formatting'
import type { Problem } from '~/lib/problems'
import { useKeys } from '~/lib/shortcuts'
import { Bar } from '~/ui/BottomBar'
import { Kbd } from '~/ui/KeyHint'
import { useNow } from '~/ui/Time'
import { ChangedNotice, DecisionButtons, RefusedNotice } from './DecisionButtons'
import { useDeciding, usePinned } from './useDecision'

type Shown = { approval: Approval; artifacts: readonly Artifact[] }
type Props = Shown & {
  revision: string | null
  /** A simulated model had a part in it. */
  isSimulated: boolean
  /** By role. */
  mayDecide: boolean
  onLook: () => void
  /** Another decision was first, or the work changed. The bar may be gone by then. */
  onTooLate: (problem: Problem) => void
}

/** The bar of a run that asks for a decision on exactly what is shown. */
export function DecisionBar(props: Props) {
  const { approval, artifacts, revision, isSimulated, mayDecide, onLook, onTooLate } = props
  const now = useNow()
  const current = useMemo(() => ({ approval, artifacts }), [approval, artifacts])
  const pinned = usePinned(approval.digest, current)
  const deciding = useDeciding(pinned.shown.approval, onTooLate)
  const { problem } = deciding

  const deadline = left(approval.expires_at, now)
  const facts = [
    artifacts.length > 0 && count(artifacts.length, 'artifact'),
    isSimulated && 'the model was simulated',
    revision,
    approval.needed > 1 && `${approval.given} of ${approval.needed} approvals given`,
    deadline && [deadline, thenWords(approval)].filter(Boolean).join(', '),
    approval.reason,
    approval.warning,
  ].filter(Boolean)

  return (
    <Bar
      state={{ tone: 'ochre', sign: approval.kind === 'escalation' ? 'alert' : 'person', word: '' }}
      title={`${approval.title}?`}
      detail={
        <>
          {facts.map((fact) => `${fact} · `)}digest <code>{shortDigest(approval.digest)}</code>
          {' · '}
          <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }}>
            everything about it
          </Link>
          {!mayDecide && ' · your role may look, not decide'}
          {mayDecide && !approval.may_decide && ' · others are asked'}
        </>
      }
      notice={
        pinned.changed ? (
          <ChangedNotice
            onLook={() => {
              pinned.look()
              deciding.forget()
              onLook()
            }}
          >
            {changedArtifacts(pinned.shown.artifacts, artifacts).join(', ') ||
              'What you decide on is no longer the same'}
            .
          </ChangedNotice>
        ) : (
          problem !== null && <RefusedNotice problem={problem} />
        )
      }
      actions={
        approval.may_decide &&
        !pinned.changed && (
          <DecisionButtons approval={approval} possible={approval.possible} deciding={deciding} comment="" />
        )
      }
    />
  )
}

/** The bar where an action waits: it is decided where everything about it stands. */
export function ActionBar({ approval }: { approval: Approval }) {
  const now = useNow()
  const keys = useMemo(() => ({ a: () => document.getElementById('review-action')?.click() }), [])
  useKeys(keys)
  return (
    <Bar
      state={{ tone: 'ochre', sign: 'person', word: '' }}
      title={`${approval.title}?`}
      detail={[
        approval.risk_level !== null && `${approval.risk_level} risk`,
        approval.confidence !== null && `confidence ${Math.round(approval.confidence * 100)} %`,
        left(approval.expires_at, now),
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
          Review the action
          <Kbd>A</Kbd>
        </Button>
      }
    />
  )
}
