import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { throttle } from '~/lib/batching'
import { parseJson } from '~/lib/json'
import { applyProgressToExecution, applyProgressToRun, type ProgressUpdate } from '~/lib/progress'
import * as queries from './queries'
import { refetch } from './refetch'
import { type StreamMessage as Arrived, type Connection, openStream, singleFlight } from './stream'
import type { LogLine, Message, MessageDelta } from './types'

/** Logging can send ten hints a second, so lists refresh at most this often (in milliseconds). */
const LIST_REFRESH_INTERVAL = 2000

/** Refreshes pipelines, runs, approvals and events when they change. */
export function useLiveLists(onConnection: (state: Connection) => void): void {
  const client = useQueryClient()
  useEffect(() => {
    const refreshing = (keys: readonly string[]) =>
      singleFlight(() => Promise.all(keys.map((key) => refetch(client, [key]))))
    const refresh = refreshing(['pipelines', 'pipeline', 'runs', 'approvals', 'events', 'rules'])
    const progress = throttle(refreshing(['runs']), LIST_REFRESH_INTERVAL)
    const stop = openStream({
      url: '/api/stream',
      types: ['change'],
      onMessages: (messages) => (messages.every(isTransient) ? progress.call() : refresh()),
      onOpen: refresh,
      onConnection,
    })
    return () => {
      stop()
      progress.stop()
    }
  }, [client, onConnection])
}

/** Hints that change no state: log lines, messages and message deltas. */
const TRANSIENT = ['log', 'message', 'message_delta']
const isTransient = (message: Arrived) =>
  TRANSIENT.includes((parseJson(message.data) as { event_type?: string } | null)?.event_type ?? '')

/** Receives the log lines, messages and deltas of a run. `onOpen` is called after each (re)connection. */
export type RunSubscriber = {
  onLines?: (lines: LogLine[]) => void
  onDeltas?: (deltas: MessageDelta[]) => void
  onMessages?: (messages: Message[]) => void
  onOpen: () => void
}
const subscribers = new Map<string, Set<RunSubscriber>>()

/** Subscribes to a run that `useLiveRun` follows. */
export function subscribeToRun(runId: string, subscriber: RunSubscriber): () => void {
  const ofRun = subscribers.get(runId) ?? new Set()
  subscribers.set(runId, ofRun.add(subscriber))
  return () => {
    ofRun.delete(subscriber)
    if (ofRun.size === 0) subscribers.delete(runId)
  }
}

/** Follows a run: refreshes its data when it changes and forwards progress, log lines and messages. */
export function useLiveRun(runId: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const refresh = singleFlight(() => refetch(client, ['run', runId]))
    const refreshUsage = throttle(refresh, LIST_REFRESH_INTERVAL)
    const payloadsOf = (type: string, messages: Arrived[]) =>
      messages.filter((message) => message.type === type).map((message) => parseJson(message.data))
    const stop = openStream({
      url: `/api/runs/${runId}/stream?last_event_id=now`,
      types: ['event', 'log', 'progress', 'message_delta', 'message'],
      onMessages: (messages) => {
        const lines = payloadsOf('log', messages) as LogLine[]
        const deltas = payloadsOf('message_delta', messages) as MessageDelta[]
        const newMessages = payloadsOf('message', messages) as Message[]
        for (const subscriber of subscribers.get(runId) ?? []) {
          if (lines.length > 0) subscriber.onLines?.(lines)
          if (deltas.length > 0) subscriber.onDeltas?.(deltas)
          if (newMessages.length > 0) subscriber.onMessages?.(newMessages)
        }
        applyProgress(client, runId, payloadsOf('progress', messages) as ProgressUpdate[])
        if (messages.some((message) => message.type === 'event')) refresh()
        else if (newMessages.some((message) => message.usage !== null)) refreshUsage.call()
      },
      onOpen: () => {
        refresh()
        for (const subscriber of subscribers.get(runId) ?? []) subscriber.onOpen()
      },
    })
    return () => {
      stop()
      refreshUsage.stop()
    }
  }, [client, runId])
}

/** Writes progress into the cached data, so that it needs no request. */
function applyProgress(client: QueryClient, runId: string, updates: readonly ProgressUpdate[]): void {
  if (updates.length === 0) return
  client.setQueryData(queries.run(runId).queryKey, (run) => run && applyProgressToRun(run, updates))
  for (const update of updates) {
    const { queryKey } = queries.execution(runId, update.execution_id)
    client.setQueryData(queryKey, (execution) => execution && applyProgressToExecution(execution, update))
  }
}
