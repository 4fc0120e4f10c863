import { describe, expect, it } from 'vitest'
import type { BudgetStatus } from '~/api/types'
import { formatLimit, limitEffect, suggestedLimit, tightestLimit, withNewLimits } from '~/lib/budgets'
import { runState } from '~/lib/states'
import { runWith } from './fixtures'

const statusOf = (facts: Partial<BudgetStatus> = {}): BudgetStatus => ({
  period: 'run',
  limit: 'max_cost_usd',
  allowed: 2,
  used: 0.5,
  is_exhausted: false,
  unpriced_calls: 0,
  message: '',
  ...facts,
})

describe('budgets', () => {
  it('show the tightest limit', () => {
    const [cost, calls] = [statusOf(), statusOf({ limit: 'max_calls', allowed: 4, used: 3 })]
    expect(tightestLimit([cost, calls])).toBe(calls)
    expect(tightestLimit([])).toBeUndefined()
  })

  it.each([
    ['max_cost_usd', 2.5, '$2.50'],
    ['max_tokens', 40_000, '40,000 tokens'],
    ['max_calls', 1, '1 call'],
  ] as const)('of %s %d is %s', (limit, number, text) => expect(formatLimit(limit, number)).toBe(text))

  it('suggest a higher limit', () => {
    expect(suggestedLimit(statusOf({ allowed: 2, used: 2.2 }))).toBe(5)
    expect(suggestedLimit(statusOf({ allowed: 0.05, used: 0.051 }))).toBe(0.11)
    expect(suggestedLimit(statusOf({ limit: 'max_calls', allowed: 3, used: 3 }))).toBe(6)
  })

  it('describe the effect of a new limit', () => {
    const exhausted = statusOf({ used: 2.25, is_exhausted: true })
    expect(limitEffect(exhausted, 4)).toEqual({ text: '$1.75 remaining.', isEnough: true })
    expect(limitEffect(exhausted, 2.25).isEnough).toBe(false)
    expect(limitEffect(exhausted, null).isEnough).toBe(false)
    expect(limitEffect(statusOf(), 2)).toEqual({ text: 'Unchanged.', isEnough: true })
  })

  it('send changed limits and keep the others', () => {
    const limits = { max_cost_usd: null, max_tokens: 500, max_calls: null }
    const status = [statusOf(), statusOf({ limit: 'max_calls', allowed: 4, used: 4 })]
    const run = runWith([], {
      budget: {
        run_limits: limits,
        definition_limits: limits,
        monthly_limits: limits,
        status,
      },
    })
    const raised = new Map([
      ['max_cost_usd', 2],
      ['max_calls', 8],
    ] as const)
    expect(withNewLimits(run, raised)).toEqual({ max_cost_usd: null, max_tokens: 500, max_calls: 8 })
  })

  it('show in the state of the run when exhausted', () =>
    expect(runState(runWith([], { status: 'paused', over_budget: 'Spent.' }), []).label).toBe(
      'Budget exhausted',
    ))
})
