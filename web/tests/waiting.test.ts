import { describe, expect, it, vi } from 'vitest'
import type { OpenExecution } from '~/api/types'
import { restartWords } from '~/features/runs/restartText'
import { throttle } from '~/lib/batching'
import { inRun, percent, progressWords } from '~/lib/progress'
import { nowWords, onlyWaitsForAStart, waitWords } from '~/lib/waiting'
import { approval, openOne, runWith, trailItem } from './fixtures'

describe('waitWords', () => {
  it.each<[Partial<OpenExecution>, string | null]>([
    [{ status: 'pending' }, 'waits for somebody to start it'],
    [{ status: 'waiting_approval_to_start' }, 'waits for approval to start'],
    [{ status: 'waiting_approval_to_complete' }, 'waits for approval of its result'],
    [{ waiting_on: 'human_form' }, 'waits for its form to be filled in'],
    [{ waiting_on: 'retry_delay' }, 'is tried again soon'],
    [{ waiting_on: 'retry_delay', retry_due_at: '2026-03-02T09:30:12Z' }, 'is tried again in 12 s'],
    [{}, null],
    [{ status: 'completed' }, null],
  ])('%j', (facts, words) => expect(waitWords(openOne(facts), new Date('2026-03-02T09:30:00Z'))).toBe(words))
})

describe('what goes on in a run', () => {
  it('is told by who has something to tell', () => {
    const told = openOne({ checkpoint_name: 'Report', progress: { fraction: 0.459, text: 'reading rows' } })
    expect(nowWords({ open: [openOne(), told] })).toBe('Report: 45 %, reading rows, and 1 more')
    expect(nowWords({ open: [openOne({ status: 'pending' })] })).toBe('Goals waits for somebody to start it')
    expect(nowWords({ open: [openOne()] })).toBe('Goals is being carried out')
    expect(nowWords({ open: [] })).toBe('')
  })
  it('only waits for a start when nothing else moves it on', () => {
    const pending = openOne({ status: 'pending' })
    expect(onlyWaitsForAStart({ to_start: 1, waiting: 0, open: [pending] })).toBe(true)
    expect(onlyWaitsForAStart({ to_start: 1, waiting: 1, open: [pending] })).toBe(false)
    expect(onlyWaitsForAStart({ to_start: 1, waiting: 0, open: [pending, openOne()] })).toBe(false)
    expect(onlyWaitsForAStart({ to_start: 0, waiting: 0, open: [] })).toBe(false)
  })
})

describe('progress', () => {
  it('is not told as done before it is', () =>
    expect([
      percent(0.999),
      percent(1),
      percent(-1),
      progressWords({ fraction: null, text: 'nearly' }),
    ]).toEqual(['99 %', '100 %', '0 %', 'nearly']))
  it('is put where it belongs', () => {
    const run = runWith([trailItem(), trailItem({ position: 1, execution_id: null })], { open: [openOne()] })
    const after = inRun(run, [{ execution_id: 'execution-0', fraction: 0.5, text: null }])
    expect([after.trail[0]?.progress, after.trail[1]?.progress, after.open[0]?.progress]).toEqual([
      { fraction: 0.5, text: null },
      null,
      { fraction: 0.5, text: null },
    ])
  })
})

describe('restartWords', () => {
  it('says what is set aside, stopped, withdrawn and begun', () => {
    const trail = [
      trailItem({ name: 'Goals', status: 'completed', artifact_count: 2 }),
      trailItem({ position: 1, name: 'Design', stage: 'design', status: 'in_progress' }),
      trailItem({ position: 2, name: 'Report', stage: 'report', status: 'upcoming' }),
    ]
    const run = runWith(trail, { waiting_approvals: [approval({ checkpoint_name: 'Design' })] })
    expect(restartWords(run)).toEqual({
      kept: '1 checkpoint and 2 artifacts of pass 1. They can still be read.',
      stopped: 'Design',
      withdrawn: '1 open question: Design',
      begins: 'Goals begins again.',
    })
  })
  it('says who asks first', () =>
    expect(restartWords(runWith([trailItem({ status: 'failed', asks_to_start: true })]))).toEqual({
      kept: 'Nothing is complete in pass 1 yet.',
      stopped: null,
      withdrawn: null,
      begins: 'Goals asks for approval before the start.',
    }))
})

describe('throttle', () => {
  it('calls at once, and once more for what came meanwhile', () => {
    vi.useFakeTimers()
    const run = vi.fn()
    const { call, stop } = throttle(run, 100)
    call()
    call()
    call()
    expect(run).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(100)
    expect(run).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(500)
    expect(run).toHaveBeenCalledTimes(2)
    call()
    call()
    stop()
    vi.advanceTimersByTime(500)
    expect(run).toHaveBeenCalledTimes(3)
    vi.useRealTimers()
  })
})
