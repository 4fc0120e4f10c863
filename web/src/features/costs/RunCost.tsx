import { IconCoin } from '@tabler/icons-react'
import type { Run } from '~/api/types'
import { formatLimit, tightestLimit, usedFraction } from '~/lib/budgets'
import { compactNumber, costLabel, money, totalTokens, usageSummary } from '~/lib/costs'
import { pluralize } from '~/lib/formatting'
import { SimulatedTag } from '~/ui/SimulatedTag'
import styles from './RunCost.module.css'

/** The model usage of a run against its tightest limit. */
export function RunCost({ run: { usage, budget } }: { run: Run }) {
  const status = tightestLimit(budget.status)
  if (usage.calls === 0 && status === undefined) return null
  const isSimulated = usage.calls > 0 && usage.simulated_calls === usage.calls
  return (
    <span className={styles.cost} title={usageSummary(usage)}>
      <IconCoin size={16} stroke={1.6} aria-hidden="true" />
      {isSimulated ? <SimulatedTag /> : <span>{costLabel(usage)}</span>}
      {status !== undefined && (
        <>
          <span>
            {status.limit === 'max_cost_usd' && !isSimulated
              ? `of ${money(status.allowed)}`
              : `${compactNumber(status.used)} of ${formatLimit(status.limit, status.allowed)}`}
            {status.period === 'month' && ' this month'}
          </span>
          <span className={styles.track} data-exhausted={status.is_exhausted || undefined} aria-hidden="true">
            <span style={{ width: `${usedFraction(status) * 100}%` }} />
          </span>
        </>
      )}
      {status?.limit !== 'max_tokens' && <span>{compactNumber(totalTokens(usage))} tokens</span>}
      {status?.limit !== 'max_calls' && (
        <span className={styles.calls}>{pluralize(usage.calls, 'call')}</span>
      )}
    </span>
  )
}
