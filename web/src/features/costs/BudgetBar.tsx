import { Button } from '@mantine/core'
import { IconCoin, IconPlayerPlay } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { moveRun } from '~/api/commands'
import type { Run } from '~/api/types'
import { monthSpent, ownBounds } from '~/lib/budgets'
import { Bar } from '~/ui/BottomBar'
import type { Task } from '~/ui/useRunCommand'
import { BudgetDialog } from './BudgetDialog'

type Props = { run: Run; allowed: boolean; task: Task; notice: ReactNode }

/** The run has paused because its budget is spent: it goes on with a higher one (D69). */
export function BudgetBar({ run, allowed, task, notice }: Props) {
  const [raising, setRaising] = useState(false)
  const canGoOn = run.possible.includes('resume')
  const canRaise = monthSpent(run) === undefined && ownBounds(run).length > 0
  return (
    <>
      <Bar
        state={{ tone: 'ochre', sign: 'paused', word: '' }}
        title={
          canGoOn ? 'The run was paused at its budget, and can go on' : 'The run is paused at its budget'
        }
        detail={
          canGoOn || canRaise
            ? run.over_budget
            : `${run.over_budget} The budget of the month is raised in the definition.`
        }
        notice={notice}
        actions={
          allowed && (
            <>
              {canRaise && (
                <Button
                  size="md"
                  variant={canGoOn ? 'default' : 'filled'}
                  leftSection={<IconCoin size={16} />}
                  onClick={() => setRaising(true)}
                >
                  Raise the budget…
                </Button>
              )}
              {canGoOn && (
                <Button
                  size="md"
                  variant="filled"
                  leftSection={<IconPlayerPlay size={16} />}
                  loading={task.busy === 'Resume'}
                  onClick={() => void task.run('Resume', () => moveRun(run.run_id, 'resume'))}
                >
                  Resume
                </Button>
              )}
            </>
          )
        }
      />
      <BudgetDialog run={run} task={task} opened={raising} onClose={() => setRaising(false)} />
    </>
  )
}
