import { IconAlertTriangle, IconClock, IconScale } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { explanation, modificationRates } from '~/api/approvals'
import type { ApprovalDetail } from '~/api/types'
import { formatDuration, formatTime, timeLeft, timeoutText } from '~/lib/durations'
import { shortDigest } from '~/lib/formatting'
import { executionState } from '~/lib/states'
import { RiskTag, riskLabel } from '~/ui/RiskTag'
import { StateIcon } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './ApprovalDetails.module.css'

/** The facts for a decision: deadline, confidence, risk, rule, approvers, previous steps and digest. */
export function ApprovalDetails({ approval }: { approval: ApprovalDetail }) {
  return (
    <>
      <TimeLeft approval={approval} />
      <Confidence approval={approval} />
      <Risk approval={approval} />
      <MatchedRule approval={approval} />
      <Deciders approval={approval} />
      <PreviousSteps approval={approval} />
      <p className={styles.digest}>
        Your decision applies to exactly the content shown here, with digest{' '}
        <code>{shortDigest(approval.digest)}</code>. If the content changes first, your decision is not
        recorded.
      </p>
    </>
  )
}

/** The three most important facts, shown first on a phone. */
export function ApprovalSummary({ approval }: { approval: ApprovalDetail }) {
  const now = useNow()
  const cells: [string, string, boolean][] = [
    ['Time left', timeLeft(approval.expires_at, now)?.replace(/ left$/, '') ?? 'no deadline', true],
    ['Confidence', approval.confidence === null ? 'not given' : percent(approval.confidence), false],
    ['Risk', approval.risk_level === null ? 'not given' : riskLabel(approval.risk_level), false],
  ]
  return (
    <dl className={styles.strip}>
      {cells.map(([name, value, urgent]) => (
        <div key={name} data-urgent={(urgent && approval.expires_at !== null) || undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const percent = (share: number) => `${Math.round(share * 100)}%`

function DetailSection({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

function TimeLeft({ approval }: { approval: ApprovalDetail }) {
  const now = useNow()
  if (approval.expires_at === null) return null
  const timeout = timeoutText(approval)
  return (
    <section className={styles.time} aria-label="Time left">
      <IconClock size={24} stroke={1.6} aria-hidden="true" />
      <div>
        <strong>{timeLeft(approval.expires_at, now)}</strong>
        <span>
          until {formatTime(approval.expires_at, now)}
          {timeout !== null && `, ${timeout}`}
        </span>
        {approval.escalated && <span>Escalated: more people can decide now.</span>}
      </div>
    </section>
  )
}

function Confidence({ approval }: { approval: ApprovalDetail }) {
  const { data } = useQuery(modificationRates())
  if (approval.confidence === null) return null
  const rate = data?.items.find((item) => item.operation_type === approval.operation_type)
  return (
    <DetailSection
      title="Confidence"
      aside={<span className={styles.figure}>{percent(approval.confidence)}</span>}
    >
      <div className={styles.bar} aria-hidden="true">
        <span style={{ width: percent(approval.confidence) }} />
      </div>
      {rate !== undefined && rate.approved > 0 && (
        <p className={styles.note}>
          Approvers modified {rate.modified} of {rate.approved} similar actions.
        </p>
      )}
    </DetailSection>
  )
}

function Risk({ approval }: { approval: ApprovalDetail }) {
  const { action } = approval
  if (action === null) return null
  return (
    <DetailSection title="Risk" aside={<RiskTag risk={action.risk_level} />}>
      <ul className={styles.list}>
        {action.risk_reasons.map((reason) => (
          <li key={reason}>
            <IconAlertTriangle size={15} stroke={1.6} aria-hidden="true" />
            <span>{reason}</span>
          </li>
        ))}
      </ul>
    </DetailSection>
  )
}

/** The rule that requires the approval, and why the others did not apply. */
function MatchedRule({ approval }: { approval: ApprovalDetail }) {
  const { data } = useQuery(explanation(approval.approval_id))
  const evaluated = data?.evaluated_rules ?? []
  const others = evaluated.filter((one) => one.rule !== approval.rule)
  const matched = evaluated.find((one) => one.rule === approval.rule)
  return (
    <DetailSection title={ruleHeading(approval)}>
      {approval.rule === null ? (
        <p className={styles.note}>{noRuleText(approval)}</p>
      ) : (
        <>
          <p className={styles.rule}>
            <IconScale size={15} stroke={1.6} aria-hidden="true" />
            <span>{approval.rule}</span>
          </p>
          {approval.rules_revision !== null && (
            <p className={styles.note}>
              {approval.rule_scope === 'global' ? 'Global rules' : 'Pipeline rules'}, version{' '}
              {approval.rules_revision}
            </p>
          )}
        </>
      )}
      {matched !== undefined && <Conditions conditions={matched.conditions} />}
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>
            {others.length === 1 ? '1 other rule evaluated' : `${others.length} other rules evaluated`}
          </summary>
          <ul>
            {others.map((one) => (
              <li key={`${one.scope}${one.section}${one.rule}`}>
                <strong>{one.rule}</strong> {one.outcome}
                <Conditions conditions={one.conditions} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </DetailSection>
  )
}

function ruleHeading({ rule, status }: ApprovalDetail): string {
  if (status === 'auto_approved') return rule === null ? 'Approved automatically' : 'Approved by rule'
  return rule === null ? 'Reason for this approval' : 'Required by rule'
}

function noRuleText({ action, reason, status }: ApprovalDetail): string {
  if (status === 'auto_approved') return "No rule applies. Low-risk actions don't need approval."
  if (action !== null) return 'No rule applies. Actions above low risk need approval.'
  return reason || 'No rule applies. The pipeline requires approval here.'
}

type Condition = { field: string; expected: string; actual: string; matched: boolean | null }

function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  if (conditions.length === 0) return null
  return (
    <ul className={styles.conditions}>
      {conditions.map((one) => (
        <li key={`${one.field}${one.expected}`}>
          {matchText(one.matched)}: <code>{one.field}</code> {one.expected}
          {!one.matched && ` (actual: ${one.actual})`}
        </li>
      ))}
    </ul>
  )
}

function matchText(matched: boolean | null): string {
  if (matched === null) return 'Condition unknown'
  return matched ? 'Condition met' : 'Condition not met'
}

function Deciders({ approval }: { approval: ApprovalDetail }) {
  const {
    required_approvals: required,
    received_approvals: received,
    assigned_to: assignees,
    terms,
  } = approval
  const now = useNow()
  const escalatesAt =
    terms.escalate_after_seconds !== null && !approval.escalated
      ? new Date(
          new Date(approval.requested_at).getTime() + terms.escalate_after_seconds * 1000,
        ).toISOString()
      : null
  return (
    <DetailSection title="Approvers">
      <p className={styles.note}>
        {required === 1 ? 'Needs one approval' : `${received} of ${required} approvals given`}{' '}
        {assignees.length === 0 ? 'from any approver.' : `from ${assignees.join(', ')}.`}
        {required > 1 && ' Each approval must come from a different person.'}
        {approval.can_decide ? '' : " You can't decide this approval."}
        {terms.not_by_starter && ` ${approval.run_created_by} started the run and can't approve.`}
      </p>
      {escalatesAt !== null && approval.status === 'pending' && (
        <p className={styles.note}>
          Escalates to {terms.escalate_to.join(', ') || 'others'}: {formatTime(escalatesAt, now)}.
        </p>
      )}
    </DetailSection>
  )
}

function PreviousSteps({ approval }: { approval: ApprovalDetail }) {
  return (
    <DetailSection title="Previous steps">
      <ol className={styles.steps}>
        {approval.prior_executions.map((step) => {
          const isCurrent = step.execution_id === approval.execution_id
          const isWaiting = isCurrent && approval.status === 'pending'
          const state = executionState({
            status: step.status,
            waiting_on: isWaiting && step.status === 'in_progress' ? 'action_approval' : null,
            retry_due_at: null,
          })
          return (
            <li key={step.execution_id} data-current={isCurrent || undefined}>
              <StateIcon state={state} size={15} />
              <Link
                to="/runs/$runId"
                params={{ runId: approval.run_id }}
                search={{ checkpoint: step.checkpoint_id }}
                className={styles.step}
              >
                {step.checkpoint_name}
                <span className="unseen">, {state.label}</span>
              </Link>
              <span className={styles.duration}>
                {step.seconds === null ? (isCurrent ? 'now' : '') : formatDuration(step.seconds)}
              </span>
            </li>
          )
        })}
      </ol>
    </DetailSection>
  )
}
