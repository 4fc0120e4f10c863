import { useCallback, useEffect, useState } from 'react'
import { subscribeToRun } from '~/api/live'
import { messagePage } from '~/api/queries'
import { type ConversationState, EMPTY_CONVERSATION, openConversation } from './conversationStore'

/** The live conversation of an execution. */
export function useConversation(
  runId: string,
  executionId: string,
): ConversationState & { retry: () => void; readOlder: () => void } {
  const [open, setOpen] = useState<ReturnType<typeof openConversation> | null>(null)
  const [, redraw] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const conversation = openConversation(
      (ask) => messagePage(executionId, ask, stop.signal),
      () => redraw((times) => times + 1),
    )
    setOpen(conversation)
    void conversation.readNewer()
    const ofExecution = <T extends { execution_id: string }>(all: T[]) =>
      all.filter((one) => one.execution_id === executionId)
    const unsubscribe = subscribeToRun(runId, {
      onDeltas: (deltas) => conversation.addDeltas(ofExecution(deltas)),
      onMessages: (messages) => conversation.addMessages(ofExecution(messages)),
      onOpen: conversation.onReconnected,
    })
    return () => {
      conversation.close()
      stop.abort()
      unsubscribe()
    }
  }, [runId, executionId])
  const retry = useCallback(() => void open?.readNewer(), [open])
  const readOlder = useCallback(() => void open?.readOlder(), [open])
  return { ...(open?.get() ?? EMPTY_CONVERSATION), retry, readOlder }
}
