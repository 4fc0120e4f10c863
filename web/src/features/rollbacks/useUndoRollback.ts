import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { undoRollback } from '~/api/commands'
import { asProblem, type Problem } from '~/lib/problems'
import { showToast } from '~/ui/toasts'

export type UndoRollback = {
  busy: boolean
  /** Why the last one was refused, and of which rollback. */
  refused: { id: string; problem: Problem } | null
  run: (rollbackId: string) => Promise<void>
}

/** Takes a rollback back, from its notice or from its toast; a refusal stays on the page. */
export function useUndoRollback(): UndoRollback {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<UndoRollback['refused']>(null)
  const run = useCallback(
    async (id: string) => {
      setBusy(true)
      setRefused(null)
      try {
        await undoRollback(id)
        showToast('The rollback is undone. Everything is back.')
      } catch (error) {
        setRefused({ id, problem: asProblem(error) })
      }
      const keys = ['run', 'runs', 'pipelines', 'pipeline', 'approvals']
      await Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })))
      setBusy(false)
    },
    [client],
  )
  return useMemo(() => ({ busy, refused, run }), [busy, refused, run])
}
