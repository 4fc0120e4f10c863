import { describe, expect, it } from 'vitest'
import { barContent, canAct, initialCheckpoint } from '~/features/runs/barContent'
import { approval, executionOf, runCheckpoint, runWith } from './fixtures'

const done = runCheckpoint({ status: 'completed' })

describe('barContent', () => {
  it('offers to start a run that has not started', () =>
    expect(barContent(runWith([done], { status: 'not_started' }), done, undefined)).toEqual({
      kind: 'start run',
    }))

  it('shows the decision on the selected checkpoint', () => {
    const item = runCheckpoint({ status: 'waiting_approval_to_complete' })
    const pending = approval()
    expect(barContent(runWith([item]), item, executionOf(item, pending))).toEqual({
      kind: 'decide',
      approval: pending,
    })
  })

  it('shows the form', () => {
    const item = runCheckpoint({ waiting_on: 'human_form' })
    const pending = approval({ kind: 'input' })
    expect(barContent(runWith([item], { pending_approvals: [pending] }), item, undefined)).toEqual({
      kind: 'fill in',
      approval: pending,
    })
  })

  it('allows decisions and forms while paused, but no starts', () => {
    const form = runCheckpoint({ waiting_on: 'human_form' })
    const pending = runCheckpoint({ status: 'pending' })
    expect(barContent(runWith([form], { status: 'paused' }), form, undefined).kind).toBe('fill in')
    expect(barContent(runWith([pending], { status: 'paused' }), pending, undefined).kind).toBe('resume')
  })

  it('points to another checkpoint that waits', () => {
    const waits = runCheckpoint({ status: 'waiting_approval_to_start', position: 1 })
    expect(barContent(runWith([done, waits]), done, undefined)).toEqual({ kind: 'elsewhere', item: waits })
  })

  it('shows the running checkpoint', () => {
    const item = runCheckpoint()
    expect(barContent(runWith([item]), item, undefined)).toEqual({ kind: 'running', item })
  })

  it('shows the failed checkpoint of a paused or finished run', () => {
    const failed = runCheckpoint({ status: 'failed', position: 1 })
    expect(barContent(runWith([done, failed], { status: 'paused' }), done, undefined)).toEqual({
      kind: 'failed',
      item: failed,
    })
    expect(barContent(runWith([done, failed], { status: 'failed' }), done, undefined)).toEqual({
      kind: 'failed',
      item: failed,
    })
    expect(barContent(runWith([done], { status: 'completed' }), done, undefined)).toEqual({ kind: 'over' })
  })
})

describe('canAct', () => {
  it('follows the permissions of the approval', () => {
    for (const can_decide of [true, false]) {
      const one = approval({ can_decide })
      expect(canAct({ kind: 'decide', approval: one }, ['viewer'])).toBe(can_decide)
      expect(canAct({ kind: 'fill in', approval: one }, ['viewer'])).toBe(can_decide)
    }
  })
  it('follows the roles', () => {
    const fill = { kind: 'fill in', approval: null } as const
    const resume = { kind: 'resume' } as const
    const can = (roles: Parameters<typeof canAct>[1]) => [fill, resume].map((asked) => canAct(asked, roles))
    expect(can(['viewer'])).toEqual([false, false])
    expect(can(['editor'])).toEqual([true, true])
    expect(can(['approver'])).toEqual([true, false])
    expect(can(['admin'])).toEqual([true, true])
  })
})

describe('initialCheckpoint', () => {
  const upcoming = runCheckpoint({ status: 'upcoming', position: 2 })
  const waits = runCheckpoint({ status: 'pending', position: 1 })
  it('prefers a checkpoint that needs a person', () =>
    expect(initialCheckpoint([done, waits, upcoming])).toBe(waits))
  it('falls back to the last completed checkpoint', () =>
    expect(initialCheckpoint([done, upcoming])).toBe(done))
  it('falls back to the first checkpoint', () => expect(initialCheckpoint([upcoming])).toBe(upcoming))
})
