import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { undoRollback } from '~/api/changes'
import { rollbacks } from '~/api/queries'
import { asProblem, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { Time } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import { rollbackWords } from './words'

/** The newest rollback of a run while it can still be undone. */
export function RollbackNote({ runId, mayUndo }: { runId: string; mayUndo: boolean }) {
  const client = useQueryClient()
  const { data } = useQuery(rollbacks(runId))
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const rollback = data?.items.find((item) => item.can_undo && item.undone_at === null)
  const id = rollback?.rollback_id ?? null
  if (rollback === undefined || id === null) return null
  const undo = async () => {
    setBusy(true)
    setProblem(null)
    try {
      await undoRollback(id)
      tell('The rollback is undone. Everything is back.')
    } catch (error) {
      setProblem(asProblem(error))
    }
    for (const key of ['run', 'runs', 'pipelines', 'pipeline', 'approvals'])
      await client.invalidateQueries({ queryKey: [key] })
    setBusy(false)
  }
  return (
    <Notice
      tone={problem === null ? 'grey' : 'ochre'}
      title={problem === null ? rollbackWords(rollback) : 'The rollback cannot be undone.'}
      actions={
        mayUndo && (
          <Button loading={busy} onClick={() => void undo()}>
            Undo the rollback
          </Button>
        )
      }
    >
      {problem !== null ? (
        problem.detail
      ) : (
        <>
          {rollback.created_by} {rollback.created_at !== null && <Time at={rollback.created_at} />}
          {rollback.user_reason !== null && rollback.user_reason !== '' && `: ${rollback.user_reason}`}
        </>
      )}
    </Notice>
  )
}
