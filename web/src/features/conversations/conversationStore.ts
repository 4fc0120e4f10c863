import type { Message, MessageDelta, MessagePage } from '~/api/types'
import { mergeMessages, messageKey, type StreamingMessage, withDelta } from '~/lib/conversations'

export type MessagePageQuery = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type ConversationState = {
  /** Undefined until the first answer. */
  messages: readonly Message[] | undefined
  /** The definition does not show it: only admins are given messages. */
  isHidden: boolean
  /** There is more before the first message. */
  hasOlder: boolean
  loadingOlder: boolean
  streaming: readonly StreamingMessage[]
  error: unknown
}

export const EMPTY_CONVERSATION: ConversationState = {
  messages: undefined,
  isHidden: false,
  hasOlder: false,
  loadingOlder: false,
  streaming: [],
  error: null,
}

/** So many pages are caught up with; after a longer absence it begins anew at the end. */
const MAX_CATCH_UP_PAGES = 4
/** Those who speak at the same time may be kept in another order than they are numbered: the last ones are read again. */
const OVERLAP = 20

/** A conversation from its end: older messages when they are wanted, newer ones as they are said. */
export function openConversation(
  read: (ask: MessagePageQuery) => Promise<MessagePage>,
  onChange: () => void,
) {
  let state: ConversationState = EMPTY_CONVERSATION
  let closed = false
  let isReading = false
  let readAgain = false
  const streaming = new Map<string, StreamingMessage>()

  const update = (change: Partial<ConversationState>) => {
    if (closed) return
    state = { ...state, ...change }
    onChange()
  }
  const addToState = (messages: readonly Message[], existing: readonly Message[] = state.messages ?? []) => {
    for (const message of messages) streaming.delete(messageKey(message))
    return { messages: mergeMessages(existing, messages), streaming: [...streaming.values()] }
  }

  const readNewest = async () => {
    const { items, next_cursor, is_hidden } = await read({ order: 'newest' })
    update({ ...addToState(items, []), isHidden: is_hidden, hasOlder: next_cursor !== null, error: null })
  }
  const catchUp = async (messages: readonly Message[]) => {
    // A short one is read again whole.
    let after = messages.at(-OVERLAP)?.message_id ?? 0
    for (let page = 0; page < MAX_CATCH_UP_PAGES && !closed; page += 1) {
      const { items, next_cursor, is_hidden } = await read({ order: 'oldest', after })
      update({ ...addToState(items), isHidden: is_hidden, error: null })
      after = items.at(-1)?.message_id ?? after
      if (next_cursor === null) return
    }
    await readNewest()
  }

  /** Reads the end, or on from there; asked while it does, it looks once more. */
  const readNewer = async () => {
    readAgain = isReading
    if (isReading) return
    isReading = true
    try {
      do {
        readAgain = false
        await (state.messages === undefined ? readNewest() : catchUp(state.messages))
      } while (readAgain && !closed)
    } catch (error) {
      update({ error })
    } finally {
      isReading = false
    }
  }

  const readOlder = async () => {
    const first = state.messages?.[0]
    if (first === undefined || !state.hasOlder || state.loadingOlder) return
    update({ loadingOlder: true })
    try {
      const { items, next_cursor } = await read({ order: 'newest', before: first.message_id })
      update({ ...addToState(items), hasOlder: next_cursor !== null, loadingOlder: false, error: null })
    } catch (error) {
      update({ loadingOlder: false, error })
    }
  }

  return {
    get: () => state,
    readNewer,
    readOlder,
    addMessages: (messages: readonly Message[]) => {
      if (state.messages === undefined) void readNewer()
      else {
        // A stream that lags behind tells what is older than the first one: that is read when somebody scrolls there.
        const first = state.hasOlder ? (state.messages[0]?.message_id ?? 0) : 0
        update(addToState(messages.filter((message) => message.message_id >= first)))
      }
    },
    addDeltas: (deltas: readonly MessageDelta[]) => {
      for (const delta of deltas)
        streaming.set(messageKey(delta), withDelta(streaming.get(messageKey(delta)), delta))
      update({ streaming: [...streaming.values()] })
    },
    /** The line to the server stands again: what is on its way is told from its start. */
    onReconnected: () => {
      streaming.clear()
      update({ streaming: [] })
      void readNewer()
    },
    close: () => {
      closed = true
    },
  }
}
