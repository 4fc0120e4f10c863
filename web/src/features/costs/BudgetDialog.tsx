import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { moveRun, setBudget } from '~/api/commands'
import type { Bound, Run } from '~/api/types'
import { amount, type Limit, outlook, ownBounds, proposed, UNITS, withRaised } from '~/lib/budgets'
import { FormDialog } from '~/ui/FormDialog'
import type { Task } from '~/ui/useRunCommand'
import styles from './BudgetDialog.module.css'

type Props = { run: Run; task: Task; opened: boolean; onClose: () => void }

/** Another budget for this run, with what it would leave said before it is set. */
export function BudgetDialog({ run, task, opened, onClose }: Props) {
  return opened && <Open run={run} task={task} opened onClose={onClose} />
}

function Open({ run, task, opened, onClose }: Props) {
  // What was spent when the dialog was opened stays what it is about.
  const [bounds] = useState(() => ownBounds(run))
  const [typed, setTyped] = useState(
    () =>
      new Map<Limit, string>(
        bounds.map((bound) => [bound.limit, String(bound.is_spent ? proposed(bound) : bound.allowed)]),
      ),
  )
  const seen = bounds.map((bound) => ({
    bound,
    ...outlook(bound, read(bound, typed.get(bound.limit) ?? '')),
  }))
  const send = async () => {
    const raised = new Map(bounds.map((bound) => [bound.limit, Number(typed.get(bound.limit))]))
    await setBudget(run.run_id, withRaised(run, raised))
    onClose()
    await task.run('Resume', () => moveRun(run.run_id, 'resume'))
  }
  return (
    <FormDialog
      title="Raise the budget of this run?"
      opened={opened}
      onClose={onClose}
      send="Raise it and resume"
      keep="Keep the run paused"
      onSend={send}
      refused="The budget was not raised."
      disabled={seen.some((one) => !one.helps)}
      note="For this run only. The definition stays as it is."
    >
      {seen.map(({ bound, words, helps }) => (
        <div key={bound.limit} className={styles.limit}>
          <TextInput
            label={`At most, in ${UNITS[bound.limit]}`}
            description={`${amount(bound.limit, bound.used)} of ${amount(bound.limit, bound.allowed)} used${unknown(bound)}`}
            inputMode={bound.limit === 'max_cost_usd' ? 'decimal' : 'numeric'}
            value={typed.get(bound.limit) ?? ''}
            onChange={(event) => setTyped(new Map(typed).set(bound.limit, event.currentTarget.value))}
            error={helps ? undefined : words}
          />
          {helps && (
            <p className={styles.left} role="status">
              {words}
            </p>
          )}
        </div>
      ))}
    </FormDialog>
  )
}

const unknown = ({ limit, unpriced_calls }: Bound) =>
  limit === 'max_cost_usd' && unpriced_calls > 0 ? `, without ${unpriced_calls} whose price is not known` : ''

function read({ limit }: Bound, typed: string): number | null {
  const number = Number(typed)
  if (typed.trim() === '' || !Number.isFinite(number)) return null
  return limit === 'max_cost_usd' || Number.isInteger(number) ? number : null
}
