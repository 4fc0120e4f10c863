import type { Usage } from '~/api/types'

/** 940, 1.9k, 38.4k, 2.1M. */
export function compactNumber(number: number): string {
  if (number < 1000) return String(number)
  const [value, unit] = number < 999_500 ? [number / 1000, 'k'] : [number / 1_000_000, 'M']
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`
}

/** $0.27, $1,204.50. Small amounts keep more digits: $0.0042. */
export function money(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars < 0.0001) return '< $0.0001'
  if (dollars < 0.1) return `$${dollars.toFixed(4)}`
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

export const totalTokens = (usage: Pick<Usage, 'input_tokens' | 'output_tokens'>) =>
  usage.input_tokens + usage.output_tokens

/** The cost of usage. Simulated calls are free, and some prices are unknown. */
export function costLabel(usage: Usage): string {
  if (usage.calls > 0 && usage.simulated_calls === usage.calls) return 'simulated, free'
  if (usage.cost_usd === null) return 'cost unknown'
  const cost = money(usage.cost_usd)
  return usage.unpriced_calls > 0 ? `at least ${cost}` : cost
}

/** The details for a tooltip: 1,204 tokens in (300 cached), 87 out, 2 calls. */
export function usageSummary(usage: Usage): string {
  const figure = (number: number) => number.toLocaleString('en-US')
  const cached = usage.cache_read_tokens > 0 ? ` (${figure(usage.cache_read_tokens)} cached)` : ''
  const calls = usage.calls > 1 ? `, ${figure(usage.calls)} calls` : ''
  return `${figure(usage.input_tokens)} tokens in${cached}, ${figure(usage.output_tokens)} out${calls}`
}
