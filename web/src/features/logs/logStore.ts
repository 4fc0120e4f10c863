import type { LogLine } from '~/api/types'
import { mergeLines } from '~/lib/logs'

export type LogPageQuery = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type LogPage = { items: LogLine[]; next_cursor: string | null }
export type LogState = {
  /** Undefined until the first response. */
  lines: readonly LogLine[] | undefined
  /** Whether there are lines before the first one. */
  hasOlder: boolean
  loadingOlder: boolean
  error: unknown
}

/** More lines are dropped at the old end, and loaded again when the user scrolls there. */
export const MAX_LINES = 100_000
const LINES_AFTER_TRIM = 80_000
/** The maximum number of pages to catch up. After a longer absence, it restarts at the end. */
const MAX_CATCH_UP_PAGES = 4

/** A log that starts at its end, loads older lines on demand and adds new ones as they arrive. */
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
  // A lagging stream can deliver lines older than the first one. They are loaded when the user scrolls there.
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

  /** Reads the lines that were missed while the connection was lost. */
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
