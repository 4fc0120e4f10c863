import type { Message, MessagePage, Piece } from '~/api/types'
import { type Coming, joined, placeOf, withPiece } from '~/lib/conversations'

export type Ask = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type Talk = {
  /** Undefined until the first answer. */
  messages: readonly Message[] | undefined
  /** The definition does not show it: only admins are given messages. */
  isHidden: boolean
  /** There is more before the first message. */
  older: boolean
  loadingOlder: boolean
  coming: readonly Coming[]
  error: unknown
}

export const SILENCE: Talk = {
  messages: undefined,
  isHidden: false,
  older: false,
  loadingOlder: false,
  coming: [],
  error: null,
}

/** So many pages are caught up with; after a longer absence it begins anew at the end. */
const PAGES = 4
/** Those who speak at the same time may be kept in another order than they are numbered: the last ones are read again. */
const AGAIN = 20

/** A conversation from its end: older messages when they are wanted, newer ones as they are said. */
export function openTalk(read: (ask: Ask) => Promise<MessagePage>, changed: () => void) {
  let talk: Talk = SILENCE
  let closed = false
  let under = false
  let again = false
  const coming = new Map<string, Coming>()

  const put = (change: Partial<Talk>) => {
    if (closed) return
    talk = { ...talk, ...change }
    changed()
  }
  const take = (messages: readonly Message[], known: readonly Message[] = talk.messages ?? []) => {
    for (const message of messages) coming.delete(placeOf(message))
    return { messages: joined(known, messages), coming: [...coming.values()] }
  }

  const begin = async () => {
    const { items, next_cursor, is_hidden } = await read({ order: 'newest' })
    put({ ...take(items, []), isHidden: is_hidden, older: next_cursor !== null, error: null })
  }
  const catchUp = async (messages: readonly Message[]) => {
    // A short one is read again whole.
    let after = messages.at(-AGAIN)?.message_id ?? 0
    for (let page = 0; page < PAGES && !closed; page += 1) {
      const { items, next_cursor, is_hidden } = await read({ order: 'oldest', after })
      put({ ...take(items), isHidden: is_hidden, error: null })
      after = items.at(-1)?.message_id ?? after
      if (next_cursor === null) return
    }
    await begin()
  }

  /** Reads the end, or on from there; asked while it does, it looks once more. */
  const readOn = async () => {
    again = under
    if (under) return
    under = true
    try {
      do {
        again = false
        await (talk.messages === undefined ? begin() : catchUp(talk.messages))
      } while (again && !closed)
    } catch (error) {
      put({ error })
    } finally {
      under = false
    }
  }

  const readOlder = async () => {
    const first = talk.messages?.[0]
    if (first === undefined || !talk.older || talk.loadingOlder) return
    put({ loadingOlder: true })
    try {
      const { items, next_cursor } = await read({ order: 'newest', before: first.message_id })
      put({ ...take(items), older: next_cursor !== null, loadingOlder: false, error: null })
    } catch (error) {
      put({ loadingOlder: false, error })
    }
  }

  return {
    get: () => talk,
    readOn,
    readOlder,
    hearMessages: (messages: readonly Message[]) => {
      if (talk.messages === undefined) void readOn()
      else {
        // A stream that lags behind tells what is older than the first one: that is read when somebody scrolls there.
        const first = talk.older ? (talk.messages[0]?.message_id ?? 0) : 0
        put(take(messages.filter((message) => message.message_id >= first)))
      }
    },
    hearPieces: (pieces: readonly Piece[]) => {
      for (const piece of pieces) coming.set(placeOf(piece), withPiece(coming.get(placeOf(piece)), piece))
      put({ coming: [...coming.values()] })
    },
    /** The line to the server stands again: what is on its way is told from its start. */
    reopened: () => {
      coming.clear()
      put({ coming: [] })
      void readOn()
    },
    close: () => {
      closed = true
    },
  }
}
