import { LosslessNumber } from 'lossless-json'
import { describe, expect, it, vi } from 'vitest'
import { type LogPage, type LogPageQuery, MAX_LINES, openLog } from '~/features/logs/logStore'
import {
  detailText,
  estimateRows,
  levelLabel,
  levelsAtLeast,
  logTime,
  matches,
  mergeLines,
  splitMatches,
  streamOf,
  toText,
} from '~/lib/logs'
import { logLine } from './fixtures'

const lines = (...ids: number[]) => ids.map((id) => logLine(id))
const ids = (found: readonly { log_id: number }[] | undefined) => found?.map((line) => line.log_id)

describe('mergeLines', () => {
  it.each<[number[], number[], number[]]>([
    [[], [], []],
    [[], [1], [1]],
    [[1], [], [1]],
    [
      [1, 2],
      [3, 4],
      [1, 2, 3, 4],
    ],
    [
      [3, 4],
      [1, 2],
      [1, 2, 3, 4],
    ],
    [
      [1, 2, 3],
      [2, 3, 4],
      [1, 2, 3, 4],
    ],
    [
      [1, 5],
      [3, 4],
      [1, 3, 4, 5],
    ],
    [
      [1, 2, 3],
      [2, 3],
      [1, 2, 3],
    ],
  ])('of %j and %j is %j', (one, other, all) =>
    expect(ids(mergeLines(lines(...one), lines(...other)))).toEqual(all),
  )
})

describe('log lines', () => {
  it('match by level and text', () => {
    const line = logLine(1, { level: 'warning', message: 'Disk is FULL' })
    expect(matches(line, { minLevel: 'debug', search: '' })).toBe(true)
    expect(matches(line, { minLevel: 'warning', search: 'full' })).toBe(true)
    expect(matches(line, { minLevel: 'error', search: '' })).toBe(false)
    expect(matches(line, { minLevel: 'debug', search: 'empty' })).toBe(false)
  })
  it('are requested with their level and those above', () =>
    expect(levelsAtLeast('warning')).toEqual(['warning', 'error']))
  it('show the stream of a script', () => {
    const printed = logLine(1, { details: { stream: 'stderr' } })
    expect([streamOf(printed), levelLabel(printed), detailText(printed)]).toEqual(['stderr', 'stderr', ''])
    const said = logLine(1, {
      details: { stream: 'of thought', rows: new LosslessNumber('12345678901234567890') },
    })
    expect([streamOf(said), levelLabel(said), detailText(said)]).toEqual([
      null,
      'info',
      'stream="of thought" rows=12345678901234567890',
    ])
    expect(detailText(logLine(1, { details: ['a'] }))).toBe('')
  })
  it('are copied with date and time', () => {
    const at = new Date(2026, 2, 2, 9, 5, 7, 42).toISOString()
    expect(logTime(at)).toBe('09:05:07.042')
    expect(toText([logLine(1, { timestamp: at, details: { n: 1 } }), logLine(2, { timestamp: at })])).toBe(
      '2026-03-02 09:05:07.042 info line 1 n=1\n2026-03-02 09:05:07.042 info line 2',
    )
  })
  it('estimate their rows', () =>
    expect([
      estimateRows('', 10),
      estimateRows('abc', 2),
      estimateRows('a\n\nb', 10),
      estimateRows('abc', Number.POSITIVE_INFINITY),
    ]).toEqual([1, 2, 3, 1]))
  it('splits a text at matches', () =>
    expect([
      splitMatches('Full is full', 'FULL'),
      splitMatches('none', 'x'),
      splitMatches('all', ''),
    ]).toEqual([['', 'Full', ' is ', 'full', ''], ['none'], ['all']]))
})

describe('openLog', () => {
  /** A server that holds these lines, in pages of three. */
  function served(held: () => number[]) {
    const asked: LogPageQuery[] = []
    const read = vi.fn(async (ask: LogPageQuery): Promise<LogPage> => {
      asked.push(ask)
      const found = held().filter((id) => id < (ask.before ?? 1e9) && id > (ask.after ?? 0))
      const page = ask.order === 'newest' ? found.toReversed().slice(0, 3) : found.slice(0, 3)
      return { items: lines(...page), next_cursor: found.length > 3 ? 'more' : null }
    })
    return { asked, read, log: openLog(read, () => undefined) }
  }

  it('starts at the end and loads older lines', async () => {
    const { asked, log } = served(() => [1, 2, 3, 4, 5])
    await log.readNewest()
    expect([ids(log.get().lines), log.get().hasOlder]).toEqual([[3, 4, 5], true])
    const both = [log.readOlder(), log.readOlder()]
    await Promise.all(both)
    expect([ids(log.get().lines), log.get().hasOlder]).toEqual([[1, 2, 3, 4, 5], false])
    await log.readOlder()
    expect(asked).toEqual([{ order: 'newest' }, { order: 'newest', before: 3 }])
  })
  it('keeps lines that arrive before the first response', async () => {
    const { log } = served(() => [1, 2])
    log.addLines(lines(2, 3))
    await log.readNewest()
    expect(ids(log.get().lines)).toEqual([1, 2, 3])
  })
  it('ignores older lines of a lagging stream', async () => {
    const { log } = served(() => [1, 2, 3, 4, 5])
    log.addLines(lines(2, 3))
    await log.readNewest()
    log.addLines(lines(1, 6))
    expect([ids(log.get().lines), log.get().hasOlder]).toEqual([[3, 4, 5, 6], true])
  })
  it('catches up after an absence without gaps or duplicates', async () => {
    let all = [1, 2, 3]
    const { log } = served(() => all)
    await log.readNewest()
    all = [1, 2, 3, 4, 5, 6, 7, 8]
    const caughtUp = log.catchUp()
    log.addLines(lines(8))
    await caughtUp
    expect(ids(log.get().lines)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
  it('catches up when the stream opens before the first response', async () => {
    let all = [1]
    const { asked, log } = served(() => all)
    const begun = log.readNewest()
    all = [1, 2]
    await log.catchUp()
    await begun
    expect(ids(log.get().lines)).toEqual([1, 2])
    expect(asked).toEqual([{ order: 'newest' }, { order: 'oldest', after: 1 }])
  })
  it('restarts at its end when it missed too many lines', async () => {
    let all = [1]
    const { log } = served(() => all)
    await log.readNewest()
    all = Array.from({ length: 40 }, (_, index) => index + 1)
    await log.catchUp()
    expect([ids(log.get().lines), log.get().hasOlder]).toEqual([[38, 39, 40], true])
  })
  it('drops the oldest lines when there are too many', async () => {
    const { log } = served(() => [1])
    await log.readNewest()
    log.addLines(Array.from({ length: MAX_LINES }, (_, index) => logLine(index + 2)))
    expect(log.get().lines?.length).toBeLessThan(MAX_LINES)
    expect([log.get().lines?.at(-1)?.log_id, log.get().hasOlder]).toEqual([MAX_LINES + 1, true])
  })
  it('reports read errors, and nothing after it is closed', async () => {
    const failing = openLog(
      () => Promise.reject(new Error('gone')),
      () => undefined,
    )
    await failing.readNewest()
    expect(failing.get().error).toEqual(new Error('gone'))
    const changed = vi.fn()
    const closed = openLog(async () => ({ items: [], next_cursor: null }), changed)
    closed.close()
    await closed.readNewest()
    expect(changed).not.toHaveBeenCalled()
  })
})
