import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { throttle } from '~/lib/batching'
import { parseJson } from '~/lib/json'
import { inExecution, inRun, type Told } from '~/lib/progress'
import * as queries from './queries'
import { renew } from './refetch'
import { type Message as Arrived, type Connection, listen, refresher } from './stream'
import type { LogLine, Message, Piece } from './types'

/** While something logs, lists are told ten times a second: they follow its progress at their own pace. */
const PACE = 2000

/** Keeps lists fresh: pipelines, runs, what waits, events. */
export function useLiveLists(onConnection: (state: Connection) => void): void {
  const client = useQueryClient()
  useEffect(() => {
    const refreshing = (keys: readonly string[]) =>
      refresher(() => Promise.all(keys.map((key) => renew(client, [key]))))
    const refresh = refreshing(['pipelines', 'pipeline', 'runs', 'approvals', 'events', 'rules'])
    const progress = throttle(refreshing(['runs']), PACE)
    const stop = listen({
      url: '/api/stream',
      types: ['change'],
      onMessages: (messages) => (messages.every(isPassing) ? progress.call() : refresh()),
      onOpen: refresh,
      onConnection,
    })
    return () => {
      stop()
      progress.stop()
    }
  }, [client, onConnection])
}

/** What changes no state: a log line, a message of a conversation, or a piece of one. */
const PASSING = ['log', 'message', 'heard']
const isPassing = (message: Arrived) =>
  PASSING.includes((parseJson(message.data) as { event_type?: string } | null)?.event_type ?? '')

/** Who reads along: what comes of a run's log and conversations, and that the stream stands (again). */
export type Hearer = {
  onLines?: (lines: LogLine[]) => void
  onPieces?: (pieces: Piece[]) => void
  onMessages?: (messages: Message[]) => void
  onOpen: () => void
}
const hearers = new Map<string, Set<Hearer>>()

/** Hear what is logged and said in a run that is kept fresh. */
export function hear(runId: string, hearer: Hearer): () => void {
  const all = hearers.get(runId) ?? new Set()
  hearers.set(runId, all.add(hearer))
  return () => {
    all.delete(hearer)
    if (all.size === 0) hearers.delete(runId)
  }
}

/** Keeps one run fresh: its state, executions, artifacts and events as they happen, its progress, its log, what is said. */
export function useLiveRun(runId: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const refresh = refresher(() => renew(client, ['run', runId]))
    const bill = throttle(refresh, PACE)
    const told = (type: string, messages: Arrived[]) =>
      messages.filter((message) => message.type === type).map((message) => parseJson(message.data))
    const stop = listen({
      url: `/api/runs/${runId}/stream?last_event_id=now`,
      types: ['event', 'log', 'progress', 'piece', 'message'],
      onMessages: (messages) => {
        const lines = told('log', messages) as LogLine[]
        const pieces = told('piece', messages) as Piece[]
        const said = told('message', messages) as Message[]
        for (const hearer of hearers.get(runId) ?? []) {
          if (lines.length > 0) hearer.onLines?.(lines)
          if (pieces.length > 0) hearer.onPieces?.(pieces)
          if (said.length > 0) hearer.onMessages?.(said)
        }
        show(client, runId, told('progress', messages) as Told[])
        if (messages.some((message) => message.type === 'event')) refresh()
        else if (said.some((message) => message.usage !== null)) bill.call()
      },
      onOpen: () => {
        refresh()
        for (const hearer of hearers.get(runId) ?? []) hearer.onOpen()
      },
    })
    return () => {
      stop()
      bill.stop()
    }
  }, [client, runId])
}

/** Progress is put into what is shown: nothing has to be read for it. */
function show(client: QueryClient, runId: string, told: readonly Told[]): void {
  if (told.length === 0) return
  client.setQueryData(queries.run(runId).queryKey, (run) => run && inRun(run, told))
  for (const each of told) {
    const { queryKey } = queries.execution(runId, each.execution_id)
    client.setQueryData(queryKey, (execution) => execution && inExecution(execution, each))
  }
}
