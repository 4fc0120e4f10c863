import { IconCoin } from '@tabler/icons-react'
import type { Run } from '~/api/types'
import { amount, share, tightest } from '~/lib/budgets'
import { costWords, money, short, tokensOf, usageWords } from '~/lib/costs'
import { count } from '~/lib/formatting'
import { SimulatedTag } from '~/ui/SimulatedTag'
import styles from './RunCost.module.css'

/** What models have used in the run, against the limit that is nearest. */
export function RunCost({ run: { usage, budget } }: { run: Run }) {
  const bound = tightest(budget.bounds)
  if (usage.calls === 0 && bound === undefined) return null
  const isSimulated = usage.calls > 0 && usage.simulated_calls === usage.calls
  return (
    <span className={styles.cost} title={usageWords(usage)}>
      <IconCoin size={16} stroke={1.6} aria-hidden="true" />
      {isSimulated ? <SimulatedTag /> : <span>{costWords(usage)}</span>}
      {bound !== undefined && (
        <>
          <span>
            {bound.limit === 'max_cost_usd' && !isSimulated
              ? `of ${money(bound.allowed)}`
              : `${short(bound.used)} of ${amount(bound.limit, bound.allowed)}`}
            {bound.of === 'month' && ' this month'}
          </span>
          <span className={styles.track} data-spent={bound.is_spent || undefined} aria-hidden="true">
            <span style={{ width: `${share(bound) * 100}%` }} />
          </span>
        </>
      )}
      {bound?.limit !== 'max_tokens' && <span>{short(tokensOf(usage))} tokens</span>}
      {bound?.limit !== 'max_calls' && <span className={styles.calls}>{count(usage.calls, 'call')}</span>}
    </span>
  )
}
