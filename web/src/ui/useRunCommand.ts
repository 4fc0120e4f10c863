import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { asProblem, type Problem } from '~/lib/problems'

type Command = { name: string; send: () => Promise<unknown> }

export type RunCommandState = {
  /** The name of the command that is being sent. */
  busy: string | null
  /** Why the last command failed. */
  problem: Problem | null
  run: <T>(name: string, send: () => Promise<T>) => Promise<T | undefined>
}

/** Sends the commands of a run. Nothing is shown as done before the server has stored it. */
export function useRunCommand(runId: string): RunCommandState {
  const client = useQueryClient()
  const { mutateAsync, isPending, variables, error } = useMutation({
    mutationFn: ({ send }: Command) => send(),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['run', runId] })
      for (const key of ['approvals', 'runs', 'pipelines']) void client.invalidateQueries({ queryKey: [key] })
    },
  })
  const run = useCallback(
    <T>(name: string, send: () => Promise<T>): Promise<T | undefined> =>
      mutateAsync({ name, send }).then(
        (result) => result as T,
        () => undefined,
      ),
    [mutateAsync],
  )
  const busy = isPending ? variables.name : null
  return useMemo(() => ({ busy, problem: error === null ? null : asProblem(error), run }), [busy, error, run])
}
