import { Button } from '@mantine/core'
import { IconCoin, IconPlayerPlay } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { sendRunCommand } from '~/api/commands'
import type { Run } from '~/api/types'
import { exhaustedMonthlyLimit, runLimits } from '~/lib/budgets'
import { BottomBar } from '~/ui/BottomBar'
import type { RunCommandState } from '~/ui/useRunCommand'
import { BudgetDialog } from './BudgetDialog'

type Props = { run: Run; allowed: boolean; task: RunCommandState; notice: ReactNode }

/** The bottom bar of a run that was paused because its budget is exhausted. */
export function BudgetBar({ run, allowed, task, notice }: Props) {
  const [editing, setEditing] = useState(false)
  const canResume = run.available_commands.includes('resume')
  const canRaise = exhaustedMonthlyLimit(run) === undefined && runLimits(run).length > 0
  return (
    <>
      <BottomBar
        state={{ tone: 'ochre', icon: 'paused', label: '' }}
        title={
          canResume
            ? 'The run was paused at its budget limit. You can resume it now'
            : 'The run is paused because its budget is exhausted'
        }
        detail={
          canResume || canRaise
            ? run.over_budget
            : `${run.over_budget} Raise the monthly budget in the definition.`
        }
        notice={notice}
        actions={
          allowed && (
            <>
              {canRaise && (
                <Button
                  size="md"
                  variant={canResume ? 'default' : 'filled'}
                  leftSection={<IconCoin size={16} />}
                  onClick={() => setEditing(true)}
                >
                  Raise budget…
                </Button>
              )}
              {canResume && (
                <Button
                  size="md"
                  variant="filled"
                  leftSection={<IconPlayerPlay size={16} />}
                  loading={task.busy === 'Resume'}
                  onClick={() => void task.run('Resume', () => sendRunCommand(run.run_id, 'resume'))}
                >
                  Resume
                </Button>
              )}
            </>
          )
        }
      />
      <BudgetDialog run={run} task={task} opened={editing} onClose={() => setEditing(false)} />
    </>
  )
}
