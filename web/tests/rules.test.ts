import { describe, expect, it } from 'vitest'
import type { RuleSummary } from '~/api/types'
import { effectText, formatProportion, reachLabel, rulesSummary } from '~/lib/rules'

const rule = (given: Partial<RuleSummary> = {}): RuleSummary => ({
  name: 'Small refunds',
  section: 'auto_approval',
  priority: 100,
  is_enabled: true,
  shadow: false,
  auto_approves: true,
  rollout_percentage: 100,
  audit_sample_percentage: 0,
  ...given,
})

describe('rule texts', () => {
  it.each([
    [{ count: 2, total: 143, rate: 0.014, low: 0.004, high: 0.05 }, '1.4% (0.4–5.0%)'],
    [{ count: 0, total: 310, rate: 0, low: 0, high: 0.012 }, '0% (0–1.2%)'],
    [{ count: 9, total: 61, rate: 0.148, low: 0.08, high: 0.257 }, '15% (8.0–26%)'],
    [{ count: 5, total: 5, rate: 1, low: 0.57, high: 1 }, '100% (57–100%)'],
    [{ count: 0, total: 0, rate: null, low: 0, high: 1 }, 'no data'],
  ])('a share %#', (share, words) => expect(formatProportion(share)).toBe(words))

  it('describes the rollout of a rule', () => {
    const reach = (mode: Parameters<typeof reachLabel>[0]['mode']) =>
      reachLabel({ mode, rollout_percentage: 25 })
    expect([
      reach('disabled'),
      reach('shadow'),
      reach('requires_approval'),
      reach('rollout'),
      reach('full'),
    ]).toEqual(['disabled', 'shadow', 'requires approval', 'active, 25%', 'active, 100%'])
  })

  it.each([
    [rule(), 'approves automatically'],
    [
      rule({ rollout_percentage: 25, audit_sample_percentage: 10 }),
      'approves automatically, 25% rollout, 10% audited',
    ],
    [rule({ auto_approves: false }), 'requires approval'],
    [rule({ shadow: true }), 'shadow: records what it would approve'],
  ])('what a rule does %#', (given, words) => expect(effectText(given)).toBe(words))

  it.each([
    [[], 'No rules yet'],
    [[rule({ is_enabled: false }), rule({ shadow: true })], 'No active rules'],
    [[rule({ auto_approves: false })], '1 rule requires approval'],
    [[rule({ auto_approves: false }), rule({ auto_approves: false })], '2 rules require approval'],
    [[rule()], '1 rule approves automatically'],
    [[rule(), rule()], '2 rules approve automatically'],
    [[rule(), rule({ auto_approves: false })], '1 rule requires approval, 1 approves automatically'],
  ])('the title is the answer %#', (rules, words) => expect(rulesSummary(rules)).toBe(words))
})
