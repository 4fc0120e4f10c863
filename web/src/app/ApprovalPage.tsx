import { Button, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconMessage, IconUserShare } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import * as queries from '~/api/approvals'
import { run as runQuery } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { ApprovalDetail } from '~/api/types'
import { Reasoning, SupportingData } from '~/features/actions/ActionDetails'
import { ActionOutcome } from '~/features/actions/ActionOutcome'
import { ActionRequest } from '~/features/actions/ActionRequest'
import { ModifyDrawer } from '~/features/actions/ModifyDrawer'
import { type OnRepeat, RepeatChoice } from '~/features/actions/RepeatChoice'
import { ApprovalDetails, ApprovalSummary } from '~/features/approvals/ApprovalDetails'
import { ApprovalPager, useApprovalPager } from '~/features/approvals/ApprovalPager'
import { Comments } from '~/features/approvals/Comments'
import { AlreadyDecidedNotice, DecidedBar } from '~/features/approvals/DecidedBar'
import { ChangedNotice, DecisionButtons, RefusedNotice } from '~/features/approvals/DecisionButtons'
import { ReassignDialog } from '~/features/approvals/ReassignDialog'
import { useDecision, usePinned } from '~/features/approvals/useDecision'
import { ArtifactBrowser } from '~/features/artifacts/ArtifactBrowser'
import type { Parameters } from '~/lib/actions'
import { previousRun } from '~/lib/artifactChanges'
import { pluralize } from '~/lib/formatting'
import { canAnswer, canDecide } from '~/lib/states'
import { BottomBar } from '~/ui/BottomBar'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page, Section } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './ApprovalPage.module.css'

const route = getRouteApi('/approvals/$approvalId')

/** An approval with everything needed to decide it. */
export function ApprovalPage() {
  const { approvalId } = route.useParams()
  const { data: approval, error, refetch } = useQuery(queries.approval(approvalId))
  if (approval !== undefined) return <ApprovalView key={approvalId} approval={approval} />
  return (
    <Page title="Approval" crumbs={[{ label: 'Approvals', link: { to: '/approvals' } }]}>
      <h1 className="unseen">Approval</h1>
      {error !== null ? (
        <LoadError title="Couldn't load this approval." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={6} label="Loading approval" />
      )}
    </Page>
  )
}

const NONE: Parameters = {}

function ApprovalView({ approval }: { approval: ApprovalDetail }) {
  const { do: initialShortcut } = route.useSearch()
  const roles = useRoles()
  const phone = useMediaQuery('(max-width: 760px)', false)
  const [comment, setComment] = useState('')
  const [onRepeat, setOnRepeat] = useState<OnRepeat | null>(null)
  const [modifying, setModifying] = useState(false)
  const [reassigning, setReassigning] = useState(false)
  const pinned = usePinned(approval.digest, approval)
  const pending = approval.status === 'pending'
  // A closed approval is shown as it ended, an open one as it was when it was loaded.
  const shown = pending ? pinned.shown : approval
  const [decidedHere, setDecidedHere] = useState(pending ? false : null)
  const decision = useDecision(pinned.shown)
  const pager = useApprovalPager(approval.approval_id)
  const decidedByOthers = !pending && decidedHere === false
  const allowed = pending && approval.can_decide
  const { action } = shown
  const needsChoice = approval.kind === 'action' && (action?.repeats.length ?? 0) > 0
  const closeModify = () => {
    setModifying(false)
    decision.clearProblem()
  }
  const approveModified = async (modified_params: Parameters, changes: number, learn: boolean) => {
    const feedback = comment.trim() === '' ? {} : { feedback: comment.trim() }
    const message = `Approved with ${pluralize(changes, 'change')}.`
    if (await decision.submit('approve', message, { ...feedback, modified_params, learn })) {
      setDecidedHere(true)
      closeModify()
    }
  }
  const commentField = (
    <TextInput
      className={styles.comment}
      label={phone ? 'Decision comment (optional)' : undefined}
      aria-label={phone ? undefined : 'Decision comment (optional)'}
      placeholder={phone ? 'Saved with your decision' : 'Decision comment (optional)'}
      leftSection={phone ? undefined : <IconMessage size={16} aria-hidden="true" />}
      value={comment}
      onChange={(event) => setComment(event.currentTarget.value)}
      autoComplete="off"
    />
  )
  return (
    <Page
      fullBleed
      title={`${approval.pipeline_name} ${approval.run_version === null ? 'test' : `v${approval.run_version}`}`}
      documentTitle={shown.title}
      crumbs={[{ label: 'Approvals', link: { to: '/approvals' } }]}
      actions={<ApprovalPager {...pager} />}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.scroll} tabIndex={0} aria-label="Approval request">
        <div className={styles.columns}>
          <div className={styles.main}>
            <h1>{shown.title}</h1>
            <ApprovalLocation approval={approval} />
            {approval.warning !== null && (
              <Notice tone="ochre" title="Not enough approvers">
                {approval.warning}
              </Notice>
            )}
            <ApprovalSummary approval={shown} />
            <ActionOutcome approval={approval} />
            {action !== null && (
              <>
                <ActionRequest action={action} />
                <RepeatChoice
                  action={action}
                  value={onRepeat}
                  onChange={allowed && approval.kind === 'action' ? setOnRepeat : undefined}
                />
                <Reasoning text={action.reasoning} />
                <SupportingData data={action.supporting_data} />
              </>
            )}
            <ResultSection approval={shown} />
            <Comments approval={approval} canComment={canAnswer(roles)} />
            {phone && allowed && commentField}
          </div>
          <aside className={styles.aside} aria-label="Decision details">
            <ApprovalDetails approval={shown} />
            {allowed && (
              <Button leftSection={<IconUserShare size={15} />} onClick={() => setReassigning(true)}>
                Reassign…
              </Button>
            )}
          </aside>
        </div>
      </section>
      {!pending ? (
        <DecidedBar
          approval={approval}
          next={pager.next}
          notice={decidedByOthers && <AlreadyDecidedNotice approval={approval} comment={comment} />}
        />
      ) : (
        <BottomBar
          state={{ tone: 'ochre', icon: 'person', label: '' }}
          title={
            allowed
              ? ''
              : canDecide(roles)
                ? `Waiting for ${approval.assigned_to.join(', ') || 'another approver'}`
                : "Your role can't decide approvals"
          }
          leading={allowed && !phone ? commentField : undefined}
          notice={
            pinned.changed ? (
              <ChangedNotice
                onShowCurrent={() => {
                  pinned.showCurrent()
                  setOnRepeat(null)
                  decision.clearProblem()
                  setModifying(false)
                }}
              >
                The content of this approval changed.
              </ChangedNotice>
            ) : (
              decision.problem !== null && !modifying && <RefusedNotice problem={decision.problem} />
            )
          }
          actions={
            allowed &&
            !pinned.changed && (
              <DecisionButtons
                approval={approval}
                possible={approval.available_decisions}
                decision={decision}
                comment={comment}
                onRepeat={needsChoice ? onRepeat : undefined}
                onModify={action === null ? undefined : () => setModifying(true)}
                initialShortcut={initialShortcut}
                onDecided={() => setDecidedHere(true)}
              />
            )
          }
        />
      )}
      {action !== null && (
        <ModifyDrawer
          approvalId={approval.approval_id}
          action={action}
          parameters={pinned.shown.action?.current_parameters ?? NONE}
          opened={modifying}
          approving={decision.busy === 'approve'}
          isDecided={decidedByOthers}
          notice={
            decidedByOthers ? (
              <AlreadyDecidedNotice approval={approval} comment={comment} />
            ) : (
              decision.problem !== null && <RefusedNotice problem={decision.problem} />
            )
          }
          onApprove={approveModified}
          onClose={closeModify}
        />
      )}
      <ReassignDialog approval={approval} opened={reassigning} onClose={() => setReassigning(false)} />
    </Page>
  )
}

function ApprovalLocation({ approval }: { approval: ApprovalDetail }) {
  return (
    <p className={styles.location}>
      <Link
        to="/runs/$runId"
        params={{ runId: approval.run_id }}
        search={{ checkpoint: approval.checkpoint_id }}
      >
        {approval.pipeline_name} {approval.run_version === null ? 'test' : `v${approval.run_version}`}
      </Link>
      {` · checkpoint ${approval.checkpoint_position + 1}, ${approval.checkpoint_name} · requested `}
      <Time at={approval.requested_at} />
    </p>
  )
}

/** The result that the approval is about. */
function ResultSection({ approval }: { approval: ApprovalDetail }) {
  const [selected, setSelected] = useState<string>()
  const { data: run } = useQuery({
    ...runQuery(approval.run_id),
    enabled: approval.artifacts.length > 0,
  })
  if (approval.kind === 'action' || approval.kind === 'start') {
    return approval.checkpoint_description === '' || approval.action !== null ? null : (
      <Section title="Description">
        <p className={styles.description}>{approval.checkpoint_description}</p>
      </Section>
    )
  }
  return (
    <Section title="Results" count={approval.artifacts.length || undefined}>
      {approval.reason !== '' && <p className={styles.description}>{approval.reason}</p>}
      <div className={styles.files}>
        <ArtifactBrowser
          artifacts={approval.artifacts}
          selected={selected}
          onSelect={setSelected}
          emptyText="No artifacts."
          previousRun={previousRun(run)}
        />
      </div>
    </Section>
  )
}
