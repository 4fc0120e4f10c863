import { useCallback, useEffect, useState } from 'react'
import { hear } from '~/api/live'
import { messagePage } from '~/api/queries'
import { openTalk, SILENCE, type Talk } from './conversationStore'

/** The conversation of an execution, as it happens. */
export function useTalk(
  runId: string,
  executionId: string,
): Talk & { again: () => void; readOlder: () => void } {
  const [open, setOpen] = useState<ReturnType<typeof openTalk> | null>(null)
  const [, draw] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const talk = openTalk(
      (ask) => messagePage(executionId, ask, stop.signal),
      () => draw((times) => times + 1),
    )
    setOpen(talk)
    void talk.readOn()
    const own = <T extends { execution_id: string }>(all: T[]) =>
      all.filter((one) => one.execution_id === executionId)
    const deaf = hear(runId, {
      onPieces: (pieces) => talk.hearPieces(own(pieces)),
      onMessages: (messages) => talk.hearMessages(own(messages)),
      onOpen: talk.reopened,
    })
    return () => {
      talk.close()
      stop.abort()
      deaf()
    }
  }, [runId, executionId])
  const again = useCallback(() => void open?.readOn(), [open])
  const readOlder = useCallback(() => void open?.readOlder(), [open])
  return { ...(open?.get() ?? SILENCE), again, readOlder }
}
