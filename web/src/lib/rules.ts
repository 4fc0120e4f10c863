import type { Proportion, RuleAutonomy, RuleSummary } from '~/api/types'

const percent = (rate: number) => {
  const value = rate * 100
  return value === 0 || value === 100 || value >= 9.95 ? `${Math.round(value)}` : value.toFixed(1)
}

/** A proportion with its 95% confidence interval: 1.4% (0.4–5.0%). */
export function formatProportion(proportion: Proportion): string {
  return proportion.rate === null
    ? 'no data'
    : `${percent(proportion.rate)}% (${percent(proportion.low)}–${percent(proportion.high)}%)`
}

/** How far a rule is rolled out. */
export function reachLabel(rule: Pick<RuleAutonomy, 'mode' | 'rollout_percentage'>): string {
  switch (rule.mode) {
    case 'disabled':
      return 'disabled'
    case 'shadow':
      return 'shadow'
    case 'requires_approval':
      return 'requires approval'
    case 'rollout':
      return `active, ${rule.rollout_percentage}%`
    case 'full':
      return 'active, 100%'
  }
}

/** The effect of a rule that matches. */
export function effectText(rule: RuleSummary): string {
  if (!rule.auto_approves)
    return rule.shadow ? 'shadow: records when it would require approval' : 'requires approval'
  if (rule.shadow) return 'shadow: records what it would approve'
  const parts = ['approves automatically']
  if (rule.rollout_percentage < 100) parts.push(`${rule.rollout_percentage}% rollout`)
  if (rule.audit_sample_percentage > 0) parts.push(`${rule.audit_sample_percentage}% audited`)
  return parts.join(', ')
}

/** The heading of the rules page: how many rules require approval and how many approve. */
export function rulesSummary(rules: readonly RuleSummary[]): string {
  if (rules.length === 0) return 'No rules yet'
  const active = rules.filter((rule) => rule.is_enabled && !rule.shadow)
  const requiring = active.filter((rule) => !rule.auto_approves).length
  const approving = active.length - requiring
  const requires = requiring === 1 ? '1 rule requires approval' : `${requiring} rules require approval`
  const approves = approving === 1 ? 'approves automatically' : 'approve automatically'
  if (active.length === 0) return 'No active rules'
  if (approving === 0) return requires
  if (requiring === 0) return `${approving} ${approving === 1 ? 'rule' : 'rules'} ${approves}`
  return `${requires}, ${approving} ${approves}`
}
