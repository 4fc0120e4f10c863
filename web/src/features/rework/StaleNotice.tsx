import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { rerunExecution } from '~/api/commands'
import type { Execution } from '~/api/types'
import { asProblem, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'

/** What the work was made from has a newer version: say so, and let it be done again. */
export function StaleNotice({ execution, allowed }: { execution: Execution; allowed: boolean }) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  if (execution.stale_inputs.length === 0) return null
  const names = [...new Set(execution.stale_inputs.map((read) => read.checkpoint_name))].join(', ')
  const rerun = async () => {
    setBusy(true)
    setProblem(null)
    try {
      await rerunExecution(execution.execution_id)
      showToast(`${execution.checkpoint_name} is done again.`)
    } catch (error) {
      setProblem(asProblem(error))
    } finally {
      await client.invalidateQueries({ queryKey: ['run', execution.run_id] })
      setBusy(false)
    }
  }
  return (
    <>
      <Notice
        tone="ochre"
        title={`${execution.checkpoint_name} is stale.`}
        actions={
          allowed &&
          execution.possible.includes('rerun') && (
            <Button leftSection={<IconRefresh size={16} />} loading={busy} onClick={() => void rerun()}>
              Do it again
            </Button>
          )
        }
      >
        It was made from an earlier version of {names}.
      </Notice>
      {problem !== null && <ProblemNotice title="It was not done again." error={problem} />}
    </>
  )
}
