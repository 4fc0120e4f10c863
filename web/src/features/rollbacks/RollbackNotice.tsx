import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { rollbacks } from '~/api/queries'
import { Notice } from '~/ui/Notice'
import { Time } from '~/ui/Time'
import { rollbackSummary } from './rollbackText'
import type { UndoRollback } from './useUndoRollback'

/** The latest rollback of a run that can be undone, or why it can't. */
export function RollbackNotice({
  runId,
  canUndo,
  undo,
}: {
  runId: string
  canUndo: boolean
  undo: UndoRollback
}) {
  const { data } = useQuery(rollbacks(runId))
  const items = data?.items ?? []
  const failed = items.find((item) => item.rollback_id === undo.failed?.id)
  const rollback = items.find((item) => item.can_undo && item.undone_at === null) ?? failed
  if (rollback === undefined) return null
  const problem = undo.failed?.id === rollback.rollback_id ? undo.failed?.problem : undefined
  return (
    <Notice
      tone={problem === undefined ? 'grey' : 'ochre'}
      title={problem === undefined ? rollbackSummary(rollback) : "The rollback can't be undone."}
      actions={
        canUndo &&
        rollback.can_undo && (
          <Button loading={undo.busy} onClick={() => undo.run(rollback.rollback_id)}>
            Undo rollback
          </Button>
        )
      }
    >
      {problem !== undefined ? (
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
