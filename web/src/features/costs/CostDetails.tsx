import type { Run } from '~/api/types'
import { formatLimit } from '~/lib/budgets'
import { compactNumber, costLabel } from '~/lib/costs'

const NAMES = { max_cost_usd: 'Cost', max_tokens: 'Tokens', max_calls: 'Calls' }

/** The usage of a run against each limit of its budget. */
export function CostDetails({ run: { usage, budget } }: { run: Run }) {
  if (usage.calls === 0 && budget.status.length === 0) return null
  const partlySimulated = usage.simulated_calls > 0 && usage.simulated_calls < usage.calls
  return (
    <>
      {usage.calls > 0 && <Detail name="Models">{costLabel(usage)}</Detail>}
      {partlySimulated && (
        <Detail name="Simulated">
          {usage.simulated_calls} of {usage.calls} calls
        </Detail>
      )}
      {usage.cache_read_tokens > 0 && (
        <Detail name="Cached">{compactNumber(usage.cache_read_tokens)} tokens</Detail>
      )}
      {budget.status.map((status) => (
        <Detail
          key={`${status.period} ${status.limit}`}
          name={status.period === 'month' ? `${NAMES[status.limit]} (month)` : NAMES[status.limit]}
        >
          {status.limit === 'max_cost_usd'
            ? formatLimit(status.limit, status.used)
            : compactNumber(status.used)}{' '}
          of{' '}
          {status.limit === 'max_cost_usd'
            ? formatLimit(status.limit, status.allowed)
            : compactNumber(status.allowed)}
        </Detail>
      ))}
    </>
  )
}

function Detail({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
