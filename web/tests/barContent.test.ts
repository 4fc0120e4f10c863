import { describe, expect, it } from 'vitest'
import { mayTake, opening, questionOf } from '~/features/runs/barContent'
import { approval, executionOf, runWith, trailItem } from './fixtures'

const done = trailItem({ status: 'completed' })

describe('questionOf', () => {
  it('asks to start what has not begun', () =>
    expect(questionOf(runWith([done], { status: 'not_started' }), done, undefined)).toEqual({
      kind: 'start run',
    }))

  it('asks for the decision on what is looked at', () => {
    const item = trailItem({ status: 'waiting_approval_to_complete' })
    const pending = approval()
    expect(questionOf(runWith([item]), item, executionOf(item, pending))).toEqual({
      kind: 'decide',
      approval: pending,
    })
  })

  it('asks for a form', () => {
    const item = trailItem({ waiting_on: 'human_form' })
    const pending = approval({ kind: 'input' })
    expect(questionOf(runWith([item], { waiting_approvals: [pending] }), item, undefined)).toEqual({
      kind: 'fill in',
      approval: pending,
    })
  })

  it('takes decisions and forms while paused, but starts nothing', () => {
    const form = trailItem({ waiting_on: 'human_form' })
    const pending = trailItem({ status: 'pending' })
    expect(questionOf(runWith([form], { status: 'paused' }), form, undefined).kind).toBe('fill in')
    expect(questionOf(runWith([pending], { status: 'paused' }), pending, undefined).kind).toBe('resume')
  })

  it('points to what waits elsewhere', () => {
    const waits = trailItem({ status: 'waiting_approval_to_start', position: 1 })
    expect(questionOf(runWith([done, waits]), done, undefined)).toEqual({ kind: 'elsewhere', item: waits })
  })

  it('tells what runs', () => {
    const item = trailItem()
    expect(questionOf(runWith([item]), item, undefined)).toEqual({ kind: 'running', item })
  })

  it('shows what failed, paused or over', () => {
    const failed = trailItem({ status: 'failed', position: 1 })
    expect(questionOf(runWith([done, failed], { status: 'paused' }), done, undefined)).toEqual({
      kind: 'failed',
      item: failed,
    })
    expect(questionOf(runWith([done, failed], { status: 'failed' }), done, undefined)).toEqual({
      kind: 'failed',
      item: failed,
    })
    expect(questionOf(runWith([done], { status: 'completed' }), done, undefined)).toEqual({ kind: 'over' })
  })
})

describe('mayTake', () => {
  it('follows what the server says of an approval', () => {
    for (const may_decide of [true, false]) {
      const one = approval({ may_decide })
      expect(mayTake({ kind: 'decide', approval: one }, ['viewer'])).toBe(may_decide)
      expect(mayTake({ kind: 'fill in', approval: one }, ['viewer'])).toBe(may_decide)
    }
  })
  it('follows the roles (D29)', () => {
    const fill = { kind: 'fill in', approval: null } as const
    const resume = { kind: 'resume' } as const
    const can = (roles: Parameters<typeof mayTake>[1]) => [fill, resume].map((asked) => mayTake(asked, roles))
    expect(can(['viewer'])).toEqual([false, false])
    expect(can(['editor'])).toEqual([true, true])
    expect(can(['approver'])).toEqual([true, false])
    expect(can(['admin'])).toEqual([true, true])
  })
})

describe('opening', () => {
  const upcoming = trailItem({ status: 'upcoming', position: 2 })
  const waits = trailItem({ status: 'pending', position: 1 })
  it('shows what needs a person first', () => expect(opening([done, waits, upcoming])).toBe(waits))
  it('shows the last one done when all is done', () => expect(opening([done, upcoming])).toBe(done))
  it('shows the first one before anything began', () => expect(opening([upcoming])).toBe(upcoming))
})
