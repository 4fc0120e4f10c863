import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { sendRunCommand, setBudget } from '~/api/commands'
import type { BudgetStatus, Run } from '~/api/types'
import {
  formatLimit,
  type Limit,
  limitEffect,
  runLimits,
  suggestedLimit,
  UNITS,
  withNewLimits,
} from '~/lib/budgets'
import { pluralize } from '~/lib/formatting'
import { FormDialog } from '~/ui/FormDialog'
import type { RunCommandState } from '~/ui/useRunCommand'
import styles from './BudgetDialog.module.css'

type Props = { run: Run; task: RunCommandState; opened: boolean; onClose: () => void }

/** Raises the budget of a run and shows what would remain. */
export function BudgetDialog({ run, task, opened, onClose }: Props) {
  return opened && <BudgetForm run={run} task={task} opened onClose={onClose} />
}

function BudgetForm({ run, task, opened, onClose }: Props) {
  // Keeps the limits as they were when the dialog was opened.
  const [limits] = useState(() => runLimits(run))
  const [inputs, setInputs] = useState(
    () =>
      new Map<Limit, string>(
        limits.map((status) => [
          status.limit,
          String(status.is_exhausted ? suggestedLimit(status) : status.allowed),
        ]),
      ),
  )
  const fields = limits.map((status) => ({
    status,
    ...limitEffect(status, parseLimit(status, inputs.get(status.limit) ?? '')),
  }))
  const send = async () => {
    const raised = new Map(limits.map((status) => [status.limit, Number(inputs.get(status.limit))]))
    await setBudget(run.run_id, withNewLimits(run, raised))
    onClose()
    await task.run('Resume', () => sendRunCommand(run.run_id, 'resume'))
  }
  return (
    <FormDialog
      title="Raise budget"
      opened={opened}
      onClose={onClose}
      submitLabel="Raise budget and resume"
      cancelLabel="Cancel"
      onSubmit={send}
      errorTitle="Couldn't raise the budget."
      disabled={fields.some((one) => !one.isEnough)}
      note="Applies to this run only. The definition does not change."
    >
      {fields.map(({ status, text, isEnough }) => (
        <div key={status.limit} className={styles.limit}>
          <TextInput
            label={`Limit (${UNITS[status.limit]})`}
            description={`${formatLimit(status.limit, status.used)} of ${formatLimit(status.limit, status.allowed)} used${unpricedText(status)}`}
            inputMode={status.limit === 'max_cost_usd' ? 'decimal' : 'numeric'}
            value={inputs.get(status.limit) ?? ''}
            onChange={(event) => setInputs(new Map(inputs).set(status.limit, event.currentTarget.value))}
            error={isEnough ? undefined : text}
          />
          {isEnough && (
            <p className={styles.remaining} role="status">
              {text}
            </p>
          )}
        </div>
      ))}
    </FormDialog>
  )
}

const unpricedText = ({ limit, unpriced_calls }: BudgetStatus) =>
  limit === 'max_cost_usd' && unpriced_calls > 0
    ? `, plus ${pluralize(unpriced_calls, 'call')} with unknown price`
    : ''

function parseLimit({ limit }: BudgetStatus, inputs: string): number | null {
  const number = Number(inputs)
  if (inputs.trim() === '' || !Number.isFinite(number)) return null
  return limit === 'max_cost_usd' || Number.isInteger(number) ? number : null
}
