import type { LogLine } from '~/api/types'
import { mergeLines } from '~/lib/logs'

export type LogPageQuery = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type LogPage = { items: LogLine[]; next_cursor: string | null }
export type LogState = {
  /** Undefined until the first answer. */
  lines: readonly LogLine[] | undefined
  /** There is more before the first line. */
  hasOlder: boolean
  loadingOlder: boolean
  error: unknown
}

/** More than this is let go at the old end, and read again when somebody scrolls there. */
export const MAX_LINES = 100_000
const LINES_AFTER_TRIM = 80_000
/** So many pages are caught up with; after a longer absence it begins anew at the end. */
const MAX_CATCH_UP_PAGES = 4

/** A log from its end: older lines when they are wanted, newer ones as they come. */
export function openLog(read: (ask: LogPageQuery) => Promise<LogPage>, onChange: () => void) {
  let state: LogState = { lines: undefined, hasOlder: false, loadingOlder: false, error: null }
  let closed = false
  let earlyLines: LogLine[] = []
  let reconnected = false
  const update = (change: Partial<LogState>) => {
    if (closed) return
    state = { ...state, ...change }
    onChange()
  }
  const trimmed = (lines: readonly LogLine[]): Partial<LogState> =>
    lines.length > MAX_LINES ? { lines: lines.slice(-LINES_AFTER_TRIM), hasOlder: true } : { lines }

  const readNewest = async () => {
    try {
      const { items, next_cursor } = await read({ order: 'newest' })
      update({ lines: [...items].reverse(), hasOlder: next_cursor !== null, error: null })
      const early = earlyLines
      earlyLines = []
      addLines(early)
    } catch (error) {
      update({ error })
      return
    }
    if (reconnected) await catchUp()
  }

  const addLines = (lines: readonly LogLine[]) => {
    if (state.lines === undefined) earlyLines.push(...lines)
    else if (lines.length > 0) update(trimmed(mergeLines(state.lines, notOlder(lines))))
  }
  // A stream that lags behind tells what is older than the first line: that is read when somebody scrolls there.
  const notOlder = (lines: readonly LogLine[]) => {
    const first = state.hasOlder ? (state.lines?.[0]?.log_id ?? 0) : 0
    return lines.filter((line) => line.log_id >= first)
  }

  const readOlder = async () => {
    const first = state.lines?.[0]
    if (first === undefined || !state.hasOlder || state.loadingOlder) return
    update({ loadingOlder: true })
    try {
      const { items, next_cursor } = await read({ order: 'newest', before: first.log_id })
      const lines = mergeLines([...items].reverse(), state.lines ?? [])
      update({ lines, hasOlder: next_cursor !== null, loadingOlder: false, error: null })
    } catch (error) {
      update({ loadingOlder: false, error })
    }
  }

  /** The line to the server stands again: read what came while it did not. */
  const catchUp = async () => {
    reconnected = state.lines === undefined
    if (state.lines === undefined) return
    let last = state.lines.at(-1)?.log_id ?? 0
    for (let page = 0; page < MAX_CATCH_UP_PAGES; page += 1) {
      try {
        const { items, next_cursor } = await read({ order: 'oldest', after: last })
        addLines(items)
        last = items.at(-1)?.log_id ?? last
        if (next_cursor === null) return
      } catch (error) {
        update({ error })
        return
      }
    }
    await readNewest()
  }

  return {
    get: () => state,
    readNewest,
    addLines,
    readOlder,
    catchUp,
    close: () => {
      closed = true
    },
  }
}
