import type { BudgetLimits, BudgetStatus, Run } from '~/api/types'
import { money } from './costs'

export type Limit = keyof BudgetLimits

export const UNITS: Record<Limit, string> = {
  max_cost_usd: 'US dollars',
  max_tokens: 'tokens',
  max_calls: 'calls',
}

/** $2.00, 40,000 tokens, 1 call. */
export function formatLimit(limit: Limit, number: number): string {
  if (limit === 'max_cost_usd') return money(number)
  const unit = number === 1 ? UNITS[limit].slice(0, -1) : UNITS[limit]
  return `${number.toLocaleString('en-US')} ${unit}`
}

/** The limit with the highest usage. */
export function tightestLimit(limits: readonly BudgetStatus[]): BudgetStatus | undefined {
  return limits.reduce<BudgetStatus | undefined>(
    (tightest, status) =>
      tightest === undefined || usedFraction(status) > usedFraction(tightest) ? status : tightest,
    undefined,
  )
}

/** The used fraction of a limit, from 0 to 1. */
export const usedFraction = ({ used, allowed }: Pick<BudgetStatus, 'used' | 'allowed'>) =>
  allowed > 0 ? Math.min(1, used / allowed) : 1

/** The limits that can be raised for this run. Monthly limits belong to the definition. */
export const runLimits = (run: Run) => run.budget.status.filter((status) => status.period === 'run')
export const exhaustedMonthlyLimit = (run: Run) =>
  run.budget.status.find((status) => status.period === 'month' && status.is_exhausted)

/** Suggests twice the current limit or usage, rounded. */
export function suggestedLimit({ limit, allowed, used }: BudgetStatus): number {
  const twice = Math.max(allowed, used) * 2
  if (limit !== 'max_cost_usd') return Math.ceil(twice)
  return twice < 1 ? Math.ceil(twice * 100) / 100 : Math.ceil(twice)
}

/** What a new limit would leave, or why it is not enough. */
export function limitEffect(
  status: BudgetStatus,
  raised: number | null,
): { text: string; isEnough: boolean } {
  if (raised === null || raised <= 0) return { text: 'Enter an amount above zero.', isEnough: false }
  if (!status.is_exhausted && raised === status.allowed) return { text: 'Unchanged.', isEnough: true }
  if (raised <= status.used)
    return {
      text: `Enter more than ${formatLimit(status.limit, status.used)}, which is already used.`,
      isEnough: false,
    }
  return {
    text: `${formatLimit(status.limit, rounded(status.limit, raised - status.used))} remaining.`,
    isEnough: true,
  }
}

const rounded = (limit: Limit, number: number) =>
  limit === 'max_cost_usd' ? Number(number.toFixed(6)) : number

/** All limits of the run, including the changed ones. */
export function withNewLimits(run: Run, raised: ReadonlyMap<Limit, number>): BudgetLimits {
  const limits = { ...run.budget.run_limits }
  for (const [limit, number] of raised) {
    if (number !== runLimits(run).find((status) => status.limit === limit)?.allowed) limits[limit] = number
  }
  return limits
}
