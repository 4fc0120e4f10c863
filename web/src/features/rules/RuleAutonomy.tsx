import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { autonomy, type Scope } from '~/api/rules'
import type { Autonomy, RuleAutonomy } from '~/api/types'
import { formatProportion, reachLabel } from '~/lib/rules'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './Rules.module.css'

const DAYS = 90

/** Statistics of each rule and its reviews. */
export function RuleAutonomyTable({ scope }: { scope: Scope }) {
  const { data, error, refetch } = useQuery(autonomy(DAYS))
  if (error !== null)
    return <LoadError title="Couldn't load the rule statistics." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading rule statistics" />
  const shown = data.rules.filter((rule) => scope === null || rule.scope === scope)
  if (shown.length === 0) return <EmptyState title="No rules to report on" />
  return (
    <div className={styles.sections}>
      <p className={styles.note}>{autonomySummary(data)}</p>
      <DataTable label="Rule statistics" columns={COLUMNS} rows={shown.map((rule) => rowOf(rule))} />
      <p className={styles.note}>
        Start a rule with <code>shadow: true</code>: it records what it would have approved but approves
        nothing. Raise <code>rollout_percentage</code> as the range of wrong approvals narrows.
      </p>
    </div>
  )
}

function autonomySummary({ automatic, decided }: Autonomy): string {
  if (decided === 0) return `No decisions in the last ${DAYS} days.`
  return `In the last ${DAYS} days, rules approved ${automatic.count} of ${decided} approvals: ${formatProportion(automatic)}, with the 95% range. People decided the rest.`
}

const COLUMNS = [
  { title: 'Rule', width: 'minmax(0, 1.5fr)', untitled: true },
  { title: 'Rollout', width: 'minmax(0, 1fr)' },
  { title: 'Approved', width: '76px', alignEnd: true },
  { title: 'Reviewed', width: '84px', alignEnd: true },
  { title: 'Wrong approvals (95% range)', width: 'minmax(0, 1.3fr)', alignEnd: true },
  { title: 'Modified by people', width: 'minmax(0, 1fr)', alignEnd: true },
  { title: 'Next step', width: 'minmax(0, 1fr)' },
]

function rowOf(rule: RuleAutonomy) {
  const inShadow = rule.mode === 'shadow'
  return {
    key: `${rule.scope}${rule.section}${rule.rule}`,
    faded: rule.mode === 'disabled',
    cells: [
      <span key="rule">
        <strong>{rule.rule}</strong>
        {rule.pipeline_name !== null && <p>{rule.pipeline_name}</p>}
      </span>,
      reachLabel(rule),
      inShadow ? `${rule.shadow.total} would` : rule.mode === 'requires_approval' ? '' : rule.approved,
      rule.mode === 'requires_approval' || inShadow ? '' : `${rule.reviewed} of ${rule.sampled}`,
      rule.mode === 'requires_approval' ? '' : formatProportion(inShadow ? rule.shadow : rule.disagreement),
      rule.required_approval === 0 ? '' : formatProportion(rule.modification),
      <NextStep key="next" rule={rule} />,
    ],
  }
}

function NextStep({ rule }: { rule: RuleAutonomy }) {
  const waiting = rule.sampled - rule.reviewed
  if (waiting > 0) {
    return (
      <Link to="/rules" search={{ tab: 'audits' }}>
        Review {waiting}
      </Link>
    )
  }
  if (rule.mode === 'full' && rule.audit_sample_percentage === 0 && rule.approved > 0)
    return 'Add an audit sample'
  return 'None'
}
