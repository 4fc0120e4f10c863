import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Connection, listen, refresher } from './stream'

/** Keeps lists fresh: pipelines, runs, what waits, events. */
export function useLiveLists(onConnection: (state: Connection) => void): void {
  const client = useQueryClient()
  useEffect(() => {
    const keys = ['pipelines', 'pipeline', 'runs', 'approvals', 'events']
    const refresh = refresher(() =>
      Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] }))),
    )
    return listen({
      url: '/api/stream',
      types: ['change'],
      onMessages: refresh,
      onOpen: refresh,
      onConnection,
    })
  }, [client, onConnection])
}

/** Keeps one run fresh: its state, executions, artifacts, log and events. */
export function useLiveRun(runId: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const refresh = refresher(() => client.invalidateQueries({ queryKey: ['run', runId] }))
    return listen({
      url: `/api/runs/${runId}/stream`,
      types: ['event', 'log'],
      onMessages: refresh,
      onOpen: refresh,
    })
  }, [client, runId])
}
