import { describe, expect, it, vi } from 'vitest'
import type { OpenExecution } from '~/api/types'
import { restartText } from '~/features/runs/restartText'
import { throttle } from '~/lib/batching'
import { applyProgressToRun, formatPercent, progressText } from '~/lib/progress'
import { activityText, needsManualStart, waitingText } from '~/lib/waiting'
import { approval, openExecution, runCheckpoint, runWith } from './fixtures'

describe('waitingText', () => {
  it.each<[Partial<OpenExecution>, string | null]>([
    [{ status: 'pending' }, 'is waiting for a manual start'],
    [{ status: 'waiting_approval_to_start' }, 'is waiting for approval to start'],
    [{ status: 'waiting_approval_to_complete' }, 'is waiting for approval of its result'],
    [{ waiting_on: 'human_form' }, 'is waiting for its form'],
    [{ waiting_on: 'retry_delay' }, 'will retry soon'],
    [{ waiting_on: 'retry_delay', retry_due_at: '2026-03-02T09:30:12Z' }, 'will retry in 12 s'],
    [{}, null],
    [{ status: 'completed' }, null],
  ])('%j', (facts, words) =>
    expect(waitingText(openExecution(facts), new Date('2026-03-02T09:30:00Z'))).toBe(words),
  )
})

describe('run activity', () => {
  it('prefers an execution that reports progress', () => {
    const told = openExecution({
      checkpoint_name: 'Report',
      progress: { fraction: 0.459, text: 'reading rows' },
    })
    expect(activityText({ open_executions: [openExecution(), told] })).toBe(
      'Report: 45%, reading rows, and 1 more',
    )
    expect(activityText({ open_executions: [openExecution({ status: 'pending' })] })).toBe(
      'Goals is waiting for a manual start',
    )
    expect(activityText({ open_executions: [openExecution()] })).toBe('Goals is running')
    expect(activityText({ open_executions: [] })).toBe('')
  })
  it('needs a manual start only if nothing else can continue', () => {
    const pending = openExecution({ status: 'pending' })
    expect(
      needsManualStart({ pending_start_count: 1, pending_approval_count: 0, open_executions: [pending] }),
    ).toBe(true)
    expect(
      needsManualStart({ pending_start_count: 1, pending_approval_count: 1, open_executions: [pending] }),
    ).toBe(false)
    expect(
      needsManualStart({
        pending_start_count: 1,
        pending_approval_count: 0,
        open_executions: [pending, openExecution()],
      }),
    ).toBe(false)
    expect(needsManualStart({ pending_start_count: 0, pending_approval_count: 0, open_executions: [] })).toBe(
      false,
    )
  })
})

describe('progress', () => {
  it('rounds down', () =>
    expect([
      formatPercent(0.999),
      formatPercent(1),
      formatPercent(-1),
      progressText({ fraction: null, text: 'nearly' }),
    ]).toEqual(['99%', '100%', '0%', 'nearly']))
  it('is added to its execution', () => {
    const run = runWith([runCheckpoint(), runCheckpoint({ position: 1, execution_id: null })], {
      open_executions: [openExecution()],
    })
    const after = applyProgressToRun(run, [{ execution_id: 'execution-0', fraction: 0.5, text: null }])
    expect([
      after.checkpoints[0]?.progress,
      after.checkpoints[1]?.progress,
      after.open_executions[0]?.progress,
    ]).toEqual([{ fraction: 0.5, text: null }, null, { fraction: 0.5, text: null }])
  })
})

describe('restartText', () => {
  it('describes what is kept, stopped, withdrawn and started', () => {
    const checkpoints = [
      runCheckpoint({ name: 'Goals', status: 'completed', artifact_count: 2 }),
      runCheckpoint({ position: 1, name: 'Design', stage: 'design', status: 'in_progress' }),
      runCheckpoint({ position: 2, name: 'Report', stage: 'report', status: 'upcoming' }),
    ]
    const run = runWith(checkpoints, { pending_approvals: [approval({ checkpoint_name: 'Design' })] })
    expect(restartText(run)).toEqual({
      kept: '1 checkpoint and 2 artifacts of pass 1. They stay available.',
      stopped: 'Design',
      withdrawn: '1 pending approval: Design',
      starts: 'Goals starts again.',
    })
  })
  it('names checkpoints that need approval', () =>
    expect(
      restartText(runWith([runCheckpoint({ status: 'failed', requires_approval_to_start: true })])),
    ).toEqual({
      kept: 'Nothing is completed in pass 1 yet.',
      stopped: null,
      withdrawn: null,
      starts: 'Goals needs approval to start.',
    }))
})

describe('throttle', () => {
  it('calls immediately, and once more for calls in between', () => {
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
