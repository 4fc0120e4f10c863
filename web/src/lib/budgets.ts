import type { Bound, Limits, Run } from '~/api/types'
import { money } from './costs'

export type Limit = keyof Limits

export const UNITS: Record<Limit, string> = {
  max_cost_usd: 'US dollars',
  max_tokens: 'tokens',
  max_calls: 'calls',
}

/** $2.00, 40,000 tokens, 1 call. */
export function amount(limit: Limit, number: number): string {
  if (limit === 'max_cost_usd') return money(number)
  const unit = number === 1 ? UNITS[limit].slice(0, -1) : UNITS[limit]
  return `${number.toLocaleString('en-US')} ${unit}`
}

/** The limit of which most is used: the one that will stop the run. */
export function tightest(bounds: readonly Bound[]): Bound | undefined {
  return bounds.reduce<Bound | undefined>(
    (found, bound) => (found === undefined || share(bound) > share(found) ? bound : found),
    undefined,
  )
}

/** How much of a limit is used, from 0 to 1. */
export const share = ({ used, allowed }: Pick<Bound, 'used' | 'allowed'>) =>
  allowed > 0 ? Math.min(1, used / allowed) : 1

/** The limits of this run that can be raised for it: those of the month are the definition's. */
export const ownBounds = (run: Run) => run.budget.bounds.filter((bound) => bound.of === 'run')
export const monthSpent = (run: Run) =>
  run.budget.bounds.find((bound) => bound.of === 'month' && bound.is_spent)

/** What a person may have meant: twice of what was allowed or used, in round figures. */
export function proposed({ limit, allowed, used }: Bound): number {
  const twice = Math.max(allowed, used) * 2
  if (limit !== 'max_cost_usd') return Math.ceil(twice)
  return twice < 1 ? Math.ceil(twice * 100) / 100 : Math.ceil(twice)
}

/** What another limit would mean, in words; or why it does not help. */
export function outlook(bound: Bound, raised: number | null): { words: string; helps: boolean } {
  if (raised === null || raised <= 0) return { words: 'Give an amount above zero.', helps: false }
  if (!bound.is_spent && raised === bound.allowed) return { words: 'As it is.', helps: true }
  if (raised <= bound.used)
    return { words: `${amount(bound.limit, bound.used)} are used already: it has to be more.`, helps: false }
  return {
    words: `${amount(bound.limit, rounded(bound.limit, raised - bound.used))} left to use.`,
    helps: true,
  }
}

const rounded = (limit: Limit, number: number) =>
  limit === 'max_cost_usd' ? Number(number.toFixed(6)) : number

/** All of the run's own limits, with those that were changed. */
export function withRaised(run: Run, raised: ReadonlyMap<Limit, number>): Limits {
  const own = { ...run.budget.own }
  for (const [limit, number] of raised) {
    if (number !== ownBounds(run).find((bound) => bound.limit === limit)?.allowed) own[limit] = number
  }
  return own
}
