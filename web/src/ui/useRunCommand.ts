import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { asProblem, type Problem } from '~/lib/problems'

export type RunCommandState = {
  /** The name of what is under way. */
  busy: string | null
  /** Why the last one was refused. */
  problem: Problem | null
  run: <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>
}

/** One move of a run at a time: never optimistic, its refusal stays until the next. */
export function useRunCommand(runId: string): RunCommandState {
  const client = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = useCallback(
    async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
      setBusy(name)
      setProblem(null)
      try {
        return await work()
      } catch (error) {
        setProblem(asProblem(error))
        return undefined
      } finally {
        await client.invalidateQueries({ queryKey: ['run', runId] })
        for (const key of ['approvals', 'runs', 'pipelines'])
          void client.invalidateQueries({ queryKey: [key] })
        setBusy(null)
      }
    },
    [client, runId],
  )
  return useMemo(() => ({ busy, problem, run }), [busy, problem, run])
}
