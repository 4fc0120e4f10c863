import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { undoRollback } from '~/api/commands'
import { asProblem, type Problem } from '~/lib/problems'
import { showToast } from '~/ui/toasts'

export type UndoRollback = {
  busy: boolean
  /** The rollback that could not be undone, and why. */
  failed: { id: string; problem: Problem } | null
  run: (rollbackId: string) => void
}

/** Undoes a rollback, from its notice or from its toast. */
export function useUndoRollback(): UndoRollback {
  const client = useQueryClient()
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: (rollbackId: string) => undoRollback(rollbackId),
    onSuccess: () => showToast('Rollback undone.'),
    onSettled: () => {
      const keys = ['run', 'runs', 'pipelines', 'pipeline', 'approvals']
      return Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })))
    },
  })
  return useMemo(
    () => ({
      busy: isPending,
      failed: error === null || variables === undefined ? null : { id: variables, problem: asProblem(error) },
      run: mutate,
    }),
    [isPending, error, variables, mutate],
  )
}
