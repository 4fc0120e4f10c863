import type { LogLine } from '~/api/types'
import { join } from '~/lib/logs'

export type Ask = { order: 'newest' | 'oldest'; before?: number; after?: number }
export type Answer = { items: LogLine[]; next_cursor: string | null }
export type Log = {
  /** Undefined until the first answer. */
  lines: readonly LogLine[] | undefined
  /** There is more before the first line. */
  older: boolean
  loadingOlder: boolean
  error: unknown
}

/** More than this is let go at the old end, and read again when somebody scrolls there. */
export const MOST = 100_000
const LEFT = 80_000
/** So many pages are caught up with; after a longer absence it begins anew at the end. */
const PAGES = 4

/** A log from its end: older lines when they are wanted, newer ones as they come. */
export function openLog(read: (ask: Ask) => Promise<Answer>, changed: () => void) {
  let log: Log = { lines: undefined, older: false, loadingOlder: false, error: null }
  let closed = false
  let heard: LogLine[] = []
  let opened = false
  const put = (change: Partial<Log>) => {
    if (closed) return
    log = { ...log, ...change }
    changed()
  }
  const trimmed = (lines: readonly LogLine[]): Partial<Log> =>
    lines.length > MOST ? { lines: lines.slice(-LEFT), older: true } : { lines }

  const begin = async () => {
    try {
      const { items, next_cursor } = await read({ order: 'newest' })
      put({ lines: [...items].reverse(), older: next_cursor !== null, error: null })
      const early = heard
      heard = []
      hear(early)
    } catch (error) {
      put({ error })
      return
    }
    if (opened) await catchUp()
  }

  const hear = (lines: readonly LogLine[]) => {
    if (log.lines === undefined) heard.push(...lines)
    else if (lines.length > 0) put(trimmed(join(log.lines, within(lines))))
  }
  // A stream that lags behind tells what is older than the first line: that is read when somebody scrolls there.
  const within = (lines: readonly LogLine[]) => {
    const first = log.older ? (log.lines?.[0]?.log_id ?? 0) : 0
    return lines.filter((line) => line.log_id >= first)
  }

  const readOlder = async () => {
    const first = log.lines?.[0]
    if (first === undefined || !log.older || log.loadingOlder) return
    put({ loadingOlder: true })
    try {
      const { items, next_cursor } = await read({ order: 'newest', before: first.log_id })
      const lines = join([...items].reverse(), log.lines ?? [])
      put({ lines, older: next_cursor !== null, loadingOlder: false, error: null })
    } catch (error) {
      put({ loadingOlder: false, error })
    }
  }

  /** The line to the server stands again: read what came while it did not. */
  const catchUp = async () => {
    opened = log.lines === undefined
    if (log.lines === undefined) return
    let last = log.lines.at(-1)?.log_id ?? 0
    for (let page = 0; page < PAGES; page += 1) {
      try {
        const { items, next_cursor } = await read({ order: 'oldest', after: last })
        hear(items)
        last = items.at(-1)?.log_id ?? last
        if (next_cursor === null) return
      } catch (error) {
        put({ error })
        return
      }
    }
    await begin()
  }

  return {
    get: () => log,
    begin,
    hear,
    readOlder,
    catchUp,
    close: () => {
      closed = true
    },
  }
}
