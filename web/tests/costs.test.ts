import { expect, it } from 'vitest'
import { compactNumber, costLabel, money, usageSummary } from '~/lib/costs'
import { usage } from './fixtures'

it.each([
  [940, '940'],
  [1900, '1.9k'],
  [38_400, '38.4k'],
  [120_300, '120k'],
  [999_499, '999k'],
  [999_500, '1.0M'],
  [2_140_000, '2.1M'],
])('%d is %s', (number, words) => expect(compactNumber(number)).toBe(words))

it.each([
  [0, '$0'],
  [0.00001, '< $0.0001'],
  [0.0042, '$0.0042'],
  [0.27, '$0.27'],
  [1204.5, '$1,204.50'],
])('%d dollars are %s', (dollars, words) => expect(money(dollars)).toBe(words))

it('distinguishes simulated, known and unknown costs', () => {
  expect(costLabel(usage({ calls: 2, simulated_calls: 2 }))).toBe('simulated, free')
  expect(costLabel(usage({ calls: 2, cost_usd: null, unpriced_calls: 2 }))).toBe('cost unknown')
  expect(costLabel(usage({ calls: 2, cost_usd: 0.5, unpriced_calls: 1 }))).toBe('at least $0.50')
  expect(costLabel(usage({ calls: 2, cost_usd: 0.5, simulated_calls: 1 }))).toBe('$0.50')
})

it('lists all usage', () =>
  expect(
    usageSummary(usage({ calls: 2, input_tokens: 1204, output_tokens: 87, cache_read_tokens: 300 })),
  ).toBe('1,204 tokens in (300 cached), 87 out, 2 calls'))
