import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openStream, type StreamMessage, singleFlight } from '~/api/stream'
import { batch } from '~/lib/batching'

describe('batch', () => {
  it('delivers once per frame', () => {
    const frames: (() => void)[] = []
    const got: number[][] = []
    const { add } = batch<number>(
      (items) => got.push(items),
      (run) => frames.push(run),
      () => undefined,
    )
    add(1)
    add(2)
    expect([frames.length, got]).toEqual([1, []])
    frames[0]?.()
    add(3)
    frames[1]?.()
    expect(got).toEqual([[1, 2], [3]])
  })
  it('drops pending items when it is stopped', () => {
    const cancelled: number[] = []
    const got: number[][] = []
    const { add, stop } = batch<number>(
      (items) => got.push(items),
      () => 7,
      (handle) => cancelled.push(handle),
    )
    add(1)
    stop()
    expect([cancelled, got]).toEqual([[7], []])
  })
})

describe('singleFlight', () => {
  it('runs one at a time, and once more for calls in between', async () => {
    const ends: (() => void)[] = []
    const refresh = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)))
    const call = singleFlight(refresh)
    call()
    call()
    call()
    expect(refresh).toHaveBeenCalledTimes(1)
    ends[0]?.()
    await vi.waitFor(() => expect(refresh).toHaveBeenCalledTimes(2))
    ends[1]?.()
    await Promise.resolve()
    expect(refresh).toHaveBeenCalledTimes(2)
  })
  it('continues after a failure', async () => {
    const refresh = vi.fn(() => Promise.reject(new Error('gone')))
    const call = singleFlight(refresh)
    call()
    await vi.waitFor(() => expect(refresh).toHaveBeenCalledTimes(1))
    await Promise.resolve()
    call()
    await vi.waitFor(() => expect(refresh).toHaveBeenCalledTimes(2))
  })
})

class FakeSource extends EventTarget {
  static readonly CLOSED = 2
  static all: FakeSource[] = []
  readyState = 0
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  constructor(readonly url: string) {
    super()
    FakeSource.all.push(this)
  }
  close() {
    this.readyState = FakeSource.CLOSED
  }
}

describe('openStream', () => {
  let hidden = false
  const seen = { messages: [] as StreamMessage[][], opened: 0, states: [] as string[] }
  const start = () =>
    openStream({
      url: '/api/stream',
      types: ['change'],
      onMessages: (messages) => seen.messages.push(messages),
      onOpen: () => {
        seen.opened += 1
      },
      onConnection: (state) => seen.states.push(state),
    })
  const newest = () => FakeSource.all.at(-1) as FakeSource

  beforeEach(() => {
    vi.useFakeTimers()
    hidden = false
    Object.assign(seen, { messages: [], opened: 0, states: [] })
    FakeSource.all = []
    vi.stubGlobal('EventSource', FakeSource)
    vi.stubGlobal('requestAnimationFrame', (run: () => void) => setTimeout(run, 16))
    vi.stubGlobal('cancelAnimationFrame', clearTimeout)
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it('delivers the messages of one frame together', () => {
    const stop = start()
    newest().onopen?.()
    newest().dispatchEvent(new MessageEvent('change', { data: 'a' }))
    newest().dispatchEvent(new MessageEvent('change', { data: 'b' }))
    vi.advanceTimersByTime(20)
    expect(seen.messages).toEqual([
      [
        { type: 'change', data: 'a' },
        { type: 'change', data: 'b' },
      ],
    ])
    stop()
  })

  it('reopens a rejected stream and reports a lost connection', () => {
    const stop = start()
    newest().onopen?.()
    newest().readyState = FakeSource.CLOSED
    newest().onerror?.()
    vi.advanceTimersByTime(1000)
    expect(FakeSource.all).toHaveLength(2)
    newest().readyState = FakeSource.CLOSED
    newest().onerror?.()
    vi.advanceTimersByTime(2000)
    expect([FakeSource.all.length, seen.states]).toEqual([3, ['open', 'lost']])
    newest().onopen?.()
    expect([seen.states, seen.opened]).toEqual([['open', 'lost', 'open'], 2])
    stop()
  })

  it('closes while the tab is hidden and catches up afterwards', () => {
    const stop = start()
    newest().onopen?.()
    hidden = true
    document.dispatchEvent(new Event('visibilitychange'))
    expect(newest().readyState).toBe(FakeSource.CLOSED)
    hidden = false
    document.dispatchEvent(new Event('visibilitychange'))
    newest().onopen?.()
    expect([FakeSource.all.length, seen.opened]).toEqual([2, 2])
    stop()
    expect(newest().readyState).toBe(FakeSource.CLOSED)
  })
})
