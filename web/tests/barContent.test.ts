import { describe, expect, it } from 'vitest'
import { barContent, canAct, initialCheckpoint } from '~/features/runs/barContent'
import { approval, executionOf, runCheckpoint, runWith } from './fixtures'

const done = runCheckpoint({ status: 'completed' })

describe('questionOf', () => {
  it('asks to start what has not begun', () =>
    expect(barContent(runWith([done], { status: 'not_started' }), done, undefined)).toEqual({
      kind: 'start run',
    }))

  it('asks for the decision on what is looked at', () => {
    const item = runCheckpoint({ status: 'waiting_approval_to_complete' })
    const pending = approval()
    expect(barContent(runWith([item]), item, executionOf(item, pending))).toEqual({
      kind: 'decide',
      approval: pending,
    })
  })

  it('asks for a form', () => {
    const item = runCheckpoint({ waiting_on: 'human_form' })
    const pending = approval({ kind: 'input' })
    expect(barContent(runWith([item], { waiting_approvals: [pending] }), item, undefined)).toEqual({
      kind: 'fill in',
      approval: pending,
    })
  })

  it('takes decisions and forms while paused, but starts nothing', () => {
    const form = runCheckpoint({ waiting_on: 'human_form' })
    const pending = runCheckpoint({ status: 'pending' })
    expect(barContent(runWith([form], { status: 'paused' }), form, undefined).kind).toBe('fill in')
    expect(barContent(runWith([pending], { status: 'paused' }), pending, undefined).kind).toBe('resume')
  })

  it('points to what waits elsewhere', () => {
    const waits = runCheckpoint({ status: 'waiting_approval_to_start', position: 1 })
    expect(barContent(runWith([done, waits]), done, undefined)).toEqual({ kind: 'elsewhere', item: waits })
  })

  it('tells what runs', () => {
    const item = runCheckpoint()
    expect(barContent(runWith([item]), item, undefined)).toEqual({ kind: 'running', item })
  })

  it('shows what failed, paused or over', () => {
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

describe('mayTake', () => {
  it('follows what the server says of an approval', () => {
    for (const may_decide of [true, false]) {
      const one = approval({ may_decide })
      expect(canAct({ kind: 'decide', approval: one }, ['viewer'])).toBe(may_decide)
      expect(canAct({ kind: 'fill in', approval: one }, ['viewer'])).toBe(may_decide)
    }
  })
  it('follows the roles (D29)', () => {
    const fill = { kind: 'fill in', approval: null } as const
    const resume = { kind: 'resume' } as const
    const can = (roles: Parameters<typeof canAct>[1]) => [fill, resume].map((asked) => canAct(asked, roles))
    expect(can(['viewer'])).toEqual([false, false])
    expect(can(['editor'])).toEqual([true, true])
    expect(can(['approver'])).toEqual([true, false])
    expect(can(['admin'])).toEqual([true, true])
  })
})

describe('opening', () => {
  const upcoming = runCheckpoint({ status: 'upcoming', position: 2 })
  const waits = runCheckpoint({ status: 'pending', position: 1 })
  it('shows what needs a person first', () => expect(initialCheckpoint([done, waits, upcoming])).toBe(waits))
  it('shows the last one done when all is done', () => expect(initialCheckpoint([done, upcoming])).toBe(done))
  it('shows the first one before anything began', () => expect(initialCheckpoint([upcoming])).toBe(upcoming))
})
