import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { rerunExecution } from '~/api/commands'
import type { Execution } from '~/api/types'
import { Notice } from '~/ui/Notice'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'

/** Warns that an input has a newer version, and offers to rerun. */
export function StaleNotice({ execution, allowed }: { execution: Execution; allowed: boolean }) {
  const client = useQueryClient()
  const rerun = useMutation({
    mutationFn: () => rerunExecution(execution.execution_id),
    onSuccess: () => showToast(`Rerunning ${execution.checkpoint_name}.`),
    onSettled: () => client.invalidateQueries({ queryKey: ['run', execution.run_id] }),
  })
  if (execution.stale_inputs.length === 0) return null
  const names = [...new Set(execution.stale_inputs.map((read) => read.checkpoint_name))].join(', ')
  return (
    <>
      <Notice
        tone="ochre"
        title={`${execution.checkpoint_name} is stale.`}
        actions={
          allowed &&
          execution.available_commands.includes('rerun') && (
            <Button
              leftSection={<IconRefresh size={16} />}
              loading={rerun.isPending}
              onClick={() => rerun.mutate()}
            >
              Rerun
            </Button>
          )
        }
      >
        It is based on an earlier version of {names}.
      </Notice>
      {rerun.error !== null && <ProblemNotice title="Couldn't rerun the checkpoint." error={rerun.error} />}
    </>
  )
}
