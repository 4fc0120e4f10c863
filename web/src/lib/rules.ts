import type { Proportion, RuleAutonomy, RuleSummary } from '~/api/types'

const percent = (rate: number) => {
  const value = rate * 100
  return value === 0 || value === 100 || value >= 9.95 ? `${Math.round(value)}` : value.toFixed(1)
}

/** 1.4 % (0.4–5.0): so many of so many, with the range that it lies in by 95 %. */
export function formatProportion(proportion: Proportion): string {
  return proportion.rate === null
    ? 'nothing yet'
    : `${percent(proportion.rate)} % (${percent(proportion.low)}–${percent(proportion.high)})`
}

/** How far a rule reaches. */
export function reachLabel(rule: Pick<RuleAutonomy, 'mode' | 'rollout_percentage'>): string {
  switch (rule.mode) {
    case 'disabled':
      return 'switched off'
    case 'shadow':
      return 'shadow'
    case 'asks':
      return 'asks people'
    case 'rollout':
      return `in force, ${rule.rollout_percentage} %`
    case 'full':
      return 'in force, 100 %'
  }
}

/** What a rule does when it matches. */
export function effectText(rule: RuleSummary): string {
  if (!rule.approves) return rule.shadow ? 'scores when it would ask' : 'asks people'
  if (rule.shadow) return 'scores what it would approve, approves nothing'
  const parts = ['approves by itself']
  if (rule.rollout_percentage < 100) parts.push(`${rule.rollout_percentage} % of them`)
  if (rule.audit_sample_percentage > 0) parts.push(`${rule.audit_sample_percentage} % looked at afterwards`)
  return parts.join(', ')
}

/** The title of the page of rules is the answer: how many ask, how many approve. */
export function rulesSummary(rules: readonly RuleSummary[]): string {
  if (rules.length === 0) return 'No rules yet'
  const live = rules.filter((rule) => rule.enabled && !rule.shadow)
  const asking = live.filter((rule) => !rule.approves).length
  const approving = live.length - asking
  const ask = asking === 1 ? '1 rule asks people' : `${asking} rules ask people`
  const approve = approving === 1 ? 'approves by itself' : 'approve by themselves'
  if (live.length === 0) return 'No rule is in force'
  if (approving === 0) return ask
  if (asking === 0) return `${approving} ${approving === 1 ? 'rule' : 'rules'} ${approve}`
  return `${ask}, ${approving} ${approve}`
}
