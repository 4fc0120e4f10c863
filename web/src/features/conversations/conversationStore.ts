import type { Message, MessageDelta, MessagePage } from '~/api/types'
import { mergeMessages, messageKey, type StreamingMessage, withDelta } from '~/lib/conversations'

export type MessagePageQuery = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type ConversationState = {
  /** Undefined until the first response. */
  messages: readonly Message[] | undefined
  /** Hidden by the definition. Only admins receive messages. */
  isHidden: boolean
  /** Whether there are messages before the first one. */
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

/** The maximum number of pages to catch up. After a longer absence, it restarts at the end. */
const MAX_CATCH_UP_PAGES = 4
/** Messages of parallel agents can be stored in a different order than numbered, so the last ones are read again. */
const OVERLAP = 20

/** A conversation that starts at its end, loads older messages on demand and adds new ones as they arrive. */
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
    // A short conversation is read again completely.
    let after = messages.at(-OVERLAP)?.message_id ?? 0
    for (let page = 0; page < MAX_CATCH_UP_PAGES && !closed; page += 1) {
      const { items, next_cursor, is_hidden } = await read({ order: 'oldest', after })
      update({ ...addToState(items), isHidden: is_hidden, error: null })
      after = items.at(-1)?.message_id ?? after
      if (next_cursor === null) return
    }
    await readNewest()
  }

  /** Reads the newest messages. A call during a read causes one more read afterwards. */
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
        // A lagging stream can deliver messages older than the first one. They are loaded when the user scrolls there.
        const first = state.hasOlder ? (state.messages[0]?.message_id ?? 0) : 0
        update(addToState(messages.filter((message) => message.message_id >= first)))
      }
    },
    addDeltas: (deltas: readonly MessageDelta[]) => {
      for (const delta of deltas)
        streaming.set(messageKey(delta), withDelta(streaming.get(messageKey(delta)), delta))
      update({ streaming: [...streaming.values()] })
    },
    /** After a reconnection, messages in progress are streamed again from their start. */
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
