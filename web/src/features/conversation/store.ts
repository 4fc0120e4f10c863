import type { Message, MessagePage, Piece } from '~/api/types'
import { type Coming, joined, placeOf, withPiece } from '~/lib/conversation'

export type Talk = {
  /** Undefined until the first answer. */
  messages: readonly Message[] | undefined
  /** The definition does not show it: only admins are given messages. */
  isHidden: boolean
  /** There is more to be read before the end is reached. */
  reading: boolean
  coming: readonly Coming[]
  error: unknown
}

export const SILENCE: Talk = {
  messages: undefined,
  isHidden: false,
  reading: false,
  coming: [],
  error: null,
}

/** A conversation from its beginning to its end, page by page, and on as it is said. */
export function openTalk(read: (cursor: string | null) => Promise<MessagePage>, changed: () => void) {
  let talk: Talk = SILENCE
  let closed = false
  let under = false
  let again = false
  // Where the last page began: what comes after it stands on that page or on later ones.
  let cursor: string | null = null
  const coming = new Map<string, Coming>()

  const put = (change: Partial<Talk>) => {
    if (closed) return
    talk = { ...talk, ...change }
    changed()
  }
  const take = (messages: readonly Message[]) => {
    for (const message of messages) coming.delete(placeOf(message))
    return { messages: joined(talk.messages ?? [], messages), coming: [...coming.values()] }
  }

  /** Reads on to the end; asked while it does, it looks once more. */
  const readOn = async () => {
    again = under
    if (under) return
    under = true
    try {
      do {
        again = false
        let next: string | null = cursor
        do {
          cursor = next
          const page: MessagePage = await read(cursor)
          next = page.next_cursor
          put({ ...take(page.items), isHidden: page.is_hidden, reading: next !== null, error: null })
        } while (next !== null && !closed)
      } while (again && !closed)
    } catch (error) {
      put({ error, reading: false })
    } finally {
      under = false
    }
  }

  return {
    get: () => talk,
    readOn,
    hearMessages: (messages: readonly Message[]) => {
      if (talk.messages !== undefined && !talk.reading) put(take(messages))
      else void readOn()
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
