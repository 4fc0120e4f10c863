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
import { Proposal, Reasoning, Supporting } from '~/features/actions/ActionDetails'
import { Outcome } from '~/features/actions/ActionOutcome'
import { Modify } from '~/features/actions/ModifyDrawer'
import { Aside, Strip } from '~/features/approvals/ApprovalDetails'
import { Turning, useTurning } from '~/features/approvals/ApprovalPager'
import { Discussion } from '~/features/approvals/Comments'
import { BeatenNotice, DecidedBar } from '~/features/approvals/DecidedBar'
import { ChangedNotice, DecisionButtons, RefusedNotice } from '~/features/approvals/DecisionButtons'
import { HandOver } from '~/features/approvals/ReassignDialog'
import { useDeciding, usePinned } from '~/features/approvals/useDecision'
import { Artifacts } from '~/features/artifacts/ArtifactBrowser'
import type { Parameters } from '~/lib/actions'
import { beforeOf } from '~/lib/artifactChanges'
import { count } from '~/lib/formatting'
import { mayAnswer, mayDecide } from '~/lib/states'
import { Bar } from '~/ui/BottomBar'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page, Section } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './ApprovalPage.module.css'

const route = getRouteApi('/approvals/$approvalId')

/** One question with everything it takes to answer it. */
export function ApprovalPage() {
  const { approvalId } = route.useParams()
  const { data: approval, error, refetch } = useQuery(queries.approval(approvalId))
  if (approval !== undefined) return <OpenApproval key={approvalId} approval={approval} />
  return (
    <Page title="Approval" crumbs={[{ label: 'Approvals', link: { to: '/approvals' } }]}>
      <h1 className="unseen">Approval</h1>
      {error !== null ? (
        <Failure what="This approval could not be read." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={6} label="Loading the approval" />
      )}
    </Page>
  )
}

const NONE: Parameters = {}

function OpenApproval({ approval }: { approval: ApprovalDetail }) {
  const { do: first } = route.useSearch()
  const roles = useRoles()
  const phone = useMediaQuery('(max-width: 760px)', false)
  const [comment, setComment] = useState('')
  const [modifying, setModifying] = useState(false)
  const [handing, setHanding] = useState(false)
  const pinned = usePinned(approval.digest, approval)
  const pending = approval.status === 'pending'
  // What is over is shown as it ended; what is open as it was read.
  const shown = pending ? pinned.shown : approval
  const [mine, setMine] = useState(pending ? false : null)
  const deciding = useDeciding(pinned.shown)
  const turn = useTurning(approval.approval_id)
  const beaten = !pending && mine === false
  const allowed = pending && approval.may_decide
  const { action } = shown
  const parameters: Parameters = action?.current_parameters ?? NONE
  const closeModify = () => {
    setModifying(false)
    deciding.forget()
  }
  const approveModified = async (modified_params: Parameters, changes: number) => {
    const feedback = comment.trim() === '' ? {} : { feedback: comment.trim() }
    const words = `Approved with ${count(changes, 'change')}.`
    if (await deciding.take('approve', words, { ...feedback, modified_params })) {
      setMine(true)
      closeModify()
    }
  }
  const said = (
    <TextInput
      className={styles.comment}
      label={phone ? 'Comment (optional)' : undefined}
      aria-label={phone ? undefined : 'Comment (optional), kept with your decision'}
      placeholder={phone ? 'Kept with your decision' : 'Comment (optional), kept with your decision'}
      leftSection={phone ? undefined : <IconMessage size={16} aria-hidden="true" />}
      value={comment}
      onChange={(event) => setComment(event.currentTarget.value)}
      autoComplete="off"
    />
  )
  return (
    <Page
      bleed
      title={`${approval.pipeline_name} ${approval.run_version === null ? 'test' : `v${approval.run_version}`}`}
      crumbs={[{ label: 'Approvals', link: { to: '/approvals' } }]}
      actions={<Turning {...turn} />}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.scroll} tabIndex={0} aria-label="What is decided">
        <div className={styles.columns}>
          <div className={styles.main}>
            <h1>{shown.title}</h1>
            <Where approval={approval} />
            {approval.warning !== null && (
              <Notice tone="ochre" title="Too few people can decide this">
                {approval.warning}
              </Notice>
            )}
            <Strip approval={shown} />
            <Outcome approval={approval} />
            {action !== null && (
              <>
                <Proposal action={action} parameters={parameters} />
                <Reasoning text={action.reasoning} />
                <Supporting data={action.supporting_data} />
              </>
            )}
            <Work approval={shown} />
            <Discussion approval={approval} maySay={mayAnswer(roles)} />
            {phone && allowed && said}
          </div>
          <aside className={styles.aside} aria-label="What weighs on it">
            <Aside approval={shown} />
            {allowed && (
              <Button leftSection={<IconUserShare size={15} />} onClick={() => setHanding(true)}>
                Hand over…
              </Button>
            )}
          </aside>
        </div>
      </section>
      {!pending ? (
        <DecidedBar
          approval={approval}
          next={turn.next}
          notice={beaten && <BeatenNotice approval={approval} comment={comment} />}
        />
      ) : (
        <Bar
          state={{ tone: 'ochre', sign: 'person', word: '' }}
          title={
            allowed
              ? ''
              : mayDecide(roles)
                ? `Waits for ${approval.asked_of.join(', ') || 'another person'}`
                : 'Your role may look, not decide'
          }
          lead={allowed && !phone ? said : undefined}
          notice={
            pinned.changed ? (
              <ChangedNotice
                onLook={() => {
                  pinned.look()
                  deciding.forget()
                  setModifying(false)
                }}
              >
                What you decide on is no longer the same.
              </ChangedNotice>
            ) : (
              deciding.problem !== null && !modifying && <RefusedNotice problem={deciding.problem} />
            )
          }
          actions={
            allowed &&
            !pinned.changed && (
              <DecisionButtons
                approval={approval}
                possible={approval.possible}
                deciding={deciding}
                comment={comment}
                onModify={action === null ? undefined : () => setModifying(true)}
                first={first}
                onDecided={() => setMine(true)}
              />
            )
          }
        />
      )}
      {action !== null && (
        <Modify
          approvalId={approval.approval_id}
          action={action}
          parameters={pinned.shown.action?.current_parameters ?? NONE}
          opened={modifying}
          approving={deciding.busy === 'approve'}
          isDecided={beaten}
          notice={
            beaten ? (
              <BeatenNotice approval={approval} comment={comment} />
            ) : (
              deciding.problem !== null && <RefusedNotice problem={deciding.problem} />
            )
          }
          onApprove={approveModified}
          onClose={closeModify}
        />
      )}
      <HandOver approval={approval} opened={handing} onClose={() => setHanding(false)} />
    </Page>
  )
}

function Where({ approval }: { approval: ApprovalDetail }) {
  return (
    <p className={styles.where}>
      <Link
        to="/runs/$runId"
        params={{ runId: approval.run_id }}
        search={{ checkpoint: approval.checkpoint_id }}
      >
        {approval.pipeline_name} {approval.run_version === null ? 'test' : `v${approval.run_version}`}
      </Link>
      {` · checkpoint ${approval.checkpoint_position + 1}, ${approval.checkpoint_name} · asked `}
      <Time at={approval.asked_at} />
    </p>
  )
}

/** What was made, where a result is decided on. */
function Work({ approval }: { approval: ApprovalDetail }) {
  const [chosen, setChosen] = useState<string>()
  const { data: run } = useQuery({
    ...runQuery(approval.run_id),
    enabled: approval.artifacts.length > 0,
  })
  if (approval.kind === 'action' || approval.kind === 'start') {
    return approval.checkpoint_description === '' || approval.action !== null ? null : (
      <Section title="What it does">
        <p className={styles.text}>{approval.checkpoint_description}</p>
      </Section>
    )
  }
  return (
    <Section title="What was made" count={approval.artifacts.length || undefined}>
      {approval.reason !== '' && <p className={styles.text}>{approval.reason}</p>}
      <div className={styles.files}>
        <Artifacts
          artifacts={approval.artifacts}
          chosen={chosen}
          onChoose={setChosen}
          none="There are no artifacts."
          before={beforeOf(run)}
        />
      </div>
    </Section>
  )
}
