import type { Run } from '~/api/types'
import { amount } from '~/lib/budgets'
import { costWords, short } from '~/lib/costs'

const NAMES = { max_cost_usd: 'Cost', max_tokens: 'Tokens', max_calls: 'Calls' }

/** Each limit of the budget, and what was used by what is simulated or has no known price. */
export function CostFacts({ run: { usage, budget } }: { run: Run }) {
  if (usage.calls === 0 && budget.bounds.length === 0) return null
  const some = usage.simulated_calls > 0 && usage.simulated_calls < usage.calls
  return (
    <>
      {usage.calls > 0 && <Fact name="Models">{costWords(usage)}</Fact>}
      {some && (
        <Fact name="Simulated">
          {usage.simulated_calls} of {usage.calls} calls
        </Fact>
      )}
      {usage.cache_read_tokens > 0 && <Fact name="Cached">{short(usage.cache_read_tokens)} tokens</Fact>}
      {budget.bounds.map((bound) => (
        <Fact
          key={`${bound.of} ${bound.limit}`}
          name={bound.of === 'month' ? `${NAMES[bound.limit]}, month` : NAMES[bound.limit]}
        >
          {bound.limit === 'max_cost_usd' ? amount(bound.limit, bound.used) : short(bound.used)} of{' '}
          {bound.limit === 'max_cost_usd' ? amount(bound.limit, bound.allowed) : short(bound.allowed)}
        </Fact>
      ))}
    </>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
