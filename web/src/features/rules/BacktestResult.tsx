import { Link } from '@tanstack/react-router'
import type { Backtest } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { formatProportion } from '~/lib/rules'
import { DataTable } from '~/ui/DataTable'
import { Notice } from '~/ui/Notice'
import { Section } from '~/ui/Page'
import { Time } from '~/ui/Time'
import styles from './Rules.module.css'

/** What the edited rules would have decided in past cases. */
export function BacktestResult({ result, isOutdated }: { result: Backtest; isOutdated: boolean }) {
  return (
    <section className={styles.backtest} aria-label="Backtest">
      <div role="status">
        <h2>{backtestTitle(result)}</h2>
      </div>
      {isOutdated && (
        <Notice
          tone="grey"
          title="The rules changed since this backtest. Run it again to update the numbers."
        />
      )}
      {result.decisions > 0 && (
        <>
          <dl className={styles.figures}>
            <Figure name="Decisions by people" value={result.decisions}>
              {result.since !== null && (
                <>
                  since <Time at={result.since} />
                  {!result.complete && ', latest only'}
                </>
              )}
            </Figure>
            <Figure name="Would have approved" value={result.would_approve}>
              people disagreed in {pluralize(result.disagreed, 'case')}
            </Figure>
            <Figure name="Would have required approval" value={result.would_require_approval}>
              no matching rule for {result.no_rule}
            </Figure>
            <Figure name="Wrong approvals (95% range)" value={formatProportion(result.false_approval_rate)}>
              of automatic approvals
            </Figure>
          </dl>
          <DataTable label="Results by rule" columns={RULES} rows={result.rules.map(ruleRow)} />
        </>
      )}
      {result.disagreements.length > 0 && (
        <Section title="Disagreements" count={result.disagreed}>
          <DataTable
            label="Disagreements"
            columns={CASES}
            rows={result.disagreements.map((item) => ({
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
                <Time key="at" at={item.requested_at} />,
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

/** The heading summarizes the result. */
export function backtestTitle(result: Backtest): string {
  if (result.decisions === 0) return 'There are no past decisions to test these rules against.'
  if (result.would_approve === 0)
    return `These rules would have approved none of ${pluralize(result.decisions, 'decision')}.`
  const approved = `These rules would have approved ${result.would_approve} of ${pluralize(result.decisions, 'decision')}`
  return result.disagreed === 0
    ? `${approved}. People agreed with all of them.`
    : `${approved}. People disagreed with ${result.disagreed} of them.`
}

const RULES = [
  { title: 'Rule', width: 'minmax(0, 2fr)', untitled: true },
  { title: 'Would have approved', width: 'minmax(0, 1fr)', alignEnd: true },
  { title: 'People disagreed', width: 'minmax(0, 1fr)', alignEnd: true },
  { title: 'Would have required approval', width: 'minmax(0, 1fr)', alignEnd: true },
  { title: 'Wrong approvals (95% range)', width: 'minmax(0, 1.4fr)', alignEnd: true },
]
const CASES = [
  { title: 'Approval', width: 'minmax(0, 1.6fr)', untitled: true },
  { title: 'Operation', width: 'minmax(0, 1fr)' },
  { title: 'Rule', width: 'minmax(0, 1fr)' },
  { title: 'Decision', width: 'minmax(0, 1.4fr)' },
  { title: 'Requested', width: '90px', alignEnd: true },
]

const ruleRow = (score: Backtest['rules'][number]) => ({
  key: score.rule,
  cells: [
    <strong key="rule">{score.rule}</strong>,
    score.approved,
    score.disagreed,
    score.required_approval,
    formatProportion(score.false_approval_rate),
  ],
})
