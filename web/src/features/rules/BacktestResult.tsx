import { Link } from '@tanstack/react-router'
import type { Backtest } from '~/api/types'
import { count } from '~/lib/formatting'
import { shareWords } from '~/lib/rules'
import { Sheet } from '~/ui/DataTable'
import { Notice } from '~/ui/Notice'
import { Section } from '~/ui/Page'
import { Time } from '~/ui/Time'
import styles from './Rules.module.css'

/** What the rules in the editor would have done with what people decided. */
export function BacktestView({ outcome, isOld }: { outcome: Backtest; isOld: boolean }) {
  return (
    <section className={styles.backtest} aria-label="Tried on past decisions">
      <div role="status">
        <h2>{backtestTitle(outcome)}</h2>
      </div>
      {isOld && <Notice tone="grey" title="The text was changed since. Try it again for its own numbers." />}
      {outcome.decisions > 0 && (
        <>
          <dl className={styles.figures}>
            <Figure name="Decisions of people" value={outcome.decisions}>
              {outcome.since !== null && (
                <>
                  since <Time at={outcome.since} />
                  {!outcome.complete && ', the newest of them'}
                </>
              )}
            </Figure>
            <Figure name="Would have approved" value={outcome.would_approve}>
              {count(outcome.disagreed, 'time')} people decided otherwise
            </Figure>
            <Figure name="Would have asked" value={outcome.would_ask}>
              {outcome.no_rule} without a rule that matches
            </Figure>
            <Figure name="Wrong approvals, 95 % range" value={shareWords(outcome.false_approve)}>
              of those it would have approved
            </Figure>
          </dl>
          <Sheet label="Rule by rule" columns={RULES} rows={outcome.rules.map(ruleRow)} />
        </>
      )}
      {outcome.disagreements.length > 0 && (
        <Section title="Where people decided otherwise" count={outcome.disagreed}>
          <Sheet
            label="Where people decided otherwise"
            columns={CASES}
            rows={outcome.disagreements.map((item) => ({
              key: item.approval_id,
              cells: [
                <Link key="what" to="/approvals/$approvalId" params={{ approvalId: item.approval_id }}>
                  {item.pipeline_name}, {item.checkpoint_name}
                </Link>,
                item.operation_type ?? item.kind,
                item.rule,
                <span key="said">
                  {item.decision} by {item.by}
                  {item.feedback !== '' && <p>{item.feedback}</p>}
                </span>,
                <Time key="at" at={item.asked_at} />,
              ],
            }))}
          />
        </Section>
      )}
    </section>
  )
}

function Figure({
  name,
  value,
  children,
}: {
  name: string
  value: string | number
  children: React.ReactNode
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd>{children}</dd>
    </div>
  )
}

/** The title is the answer. */
export function backtestTitle(outcome: Backtest): string {
  if (outcome.decisions === 0)
    return 'People have not decided anything yet that these rules could be tried on.'
  if (outcome.would_approve === 0)
    return `They would have approved none of ${count(outcome.decisions, 'decision')}.`
  const approved = `They would have approved ${outcome.would_approve} of ${count(outcome.decisions, 'decision')}`
  return outcome.disagreed === 0
    ? `${approved}, as people did.`
    : `${approved}; people decided otherwise in ${outcome.disagreed} of them.`
}

const RULES = [
  { title: 'Rule', width: 'minmax(0, 2fr)', bare: true },
  { title: 'Would have approved', width: 'minmax(0, 1fr)', end: true },
  { title: 'People disagreed', width: 'minmax(0, 1fr)', end: true },
  { title: 'Would have asked', width: 'minmax(0, 1fr)', end: true },
  { title: 'Wrong approvals, 95 % range', width: 'minmax(0, 1.4fr)', end: true },
]
const CASES = [
  { title: 'What', width: 'minmax(0, 1.6fr)', bare: true },
  { title: 'Operation', width: 'minmax(0, 1fr)' },
  { title: 'Rule', width: 'minmax(0, 1fr)' },
  { title: 'People', width: 'minmax(0, 1.4fr)' },
  { title: 'Asked', width: '90px', end: true },
]

const ruleRow = (score: Backtest['rules'][number]) => ({
  key: score.rule,
  cells: [
    <strong key="rule">{score.rule}</strong>,
    score.approved,
    score.disagreed,
    score.asked,
    shareWords(score.false_approve),
  ],
})
