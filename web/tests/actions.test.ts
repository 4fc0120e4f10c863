import { describe, expect, it } from 'vitest'
import { canBatch, isSameDecision } from '~/features/approvals/batch'
import { decisionOptions } from '~/features/approvals/decisions'
import { fillPlaceholders, operationLabel, outcomeText } from '~/lib/actions'
import { changedLines } from '~/lib/diff'
import { timeoutText } from '~/lib/durations'
import { byUrgency } from '~/lib/waiting'
import { approvalItem } from '~/ui/PendingRows'
import { approval } from './fixtures'

describe('a proposed action', () => {
  it('has a word for what is done', () => {
    expect(operationLabel('send_email')).toBe('Send email')
    expect(operationLabel('close_ticket')).toBe('Close ticket')
  })

  it('is read with its values in place of their names', () => {
    expect(
      fillPlaceholders('{{ amount }} of {{order.id}}, {{ nothing }}', { amount: 9.5, order: { id: 'x' } }),
    ).toBe('9.5 of x, {{ nothing }}')
    expect(fillPlaceholders('{{ a }}', { a: '{{ b }}', b: 1 })).toBe('{{ b }}')
  })

  it.each([
    ['done', { to: ['a@example.com'], server: 'OK' }, 'Sent to a@example.com.'],
    ['failed', { error: 'refused' }, 'Approved, but the execution failed.'],
    ['unknown', { error: 'cut off' }, 'It is unknown whether the action was executed.'],
    ['begun', null, 'Executing.'],
  ])('that is %s says so', (outcome, result, title) =>
    expect(outcomeText({ outcome, result, operation_type: 'send_email' }, true)?.title).toBe(title),
  )
})

describe('differences', () => {
  it('show changed lines with the words that differ', () =>
    expect(changedLines('Dear A,\nyou get 99.99 back\n', 'Dear A,\nyou get 89.99 back\n')).toEqual([
      {
        sign: '−',
        parts: [
          { kind: 'same', text: 'you get ' },
          { kind: 'removed', text: '99.99' },
          { kind: 'same', text: ' back' },
        ],
      },
      {
        sign: '+',
        parts: [
          { kind: 'same', text: 'you get ' },
          { kind: 'added', text: '89.99' },
          { kind: 'same', text: ' back' },
        ],
      },
    ]))

  it('show what is new or gone as a whole', () => {
    expect(changedLines('', 'new')).toEqual([{ sign: '+', parts: [{ kind: 'added', text: 'new' }] }])
    expect(changedLines('old', '')).toEqual([{ sign: '−', parts: [{ kind: 'removed', text: 'old' }] }])
  })
})

describe('what waits', () => {
  const at = (facts: Parameters<typeof approval>[0]) => approvalItem(approval(facts))

  it('stands by deadline, then age, as the server sorts it', () => {
    const items = [
      at({ approval_id: 'old', asked_at: '2026-01-01T00:00:00Z' }),
      at({ approval_id: 'risky', asked_at: '2026-02-01T00:00:00Z', risk_level: 'high' }),
      at({ approval_id: 'late', expires_at: '2026-03-02T00:00:00Z' }),
      at({ approval_id: 'soon', expires_at: '2026-03-01T00:00:00Z' }),
    ]
    expect(items.sort(byUrgency).map(({ id }) => id)).toEqual(['soon', 'late', 'old', 'risky'])
  })

  it('is decided together only with its like', () => {
    const one = at({ kind: 'action', operation_type: 'send_email', possible: ['approve', 'reject'] })
    expect(canBatch(one)).toBe(true)
    expect(canBatch(at({ kind: 'action', may_decide: false }))).toBe(false)
    expect(canBatch(at({ kind: 'input', possible: ['answer'] }))).toBe(false)
    expect(isSameDecision(one, at({ kind: 'action', operation_type: 'send_email' }))).toBe(true)
    expect(isSameDecision(one, at({ kind: 'action', operation_type: 'http_request' }))).toBe(false)
    expect(isSameDecision(one, at({ kind: 'completion' }))).toBe(false)
  })

  it('says what happens when the time is up', () => {
    const to = ['managers']
    const then = (facts: Parameters<typeof approval>[0]) => timeoutText(approval(facts))
    expect(then({ on_timeout: 'fail' })).toBe('then it fails')
    expect(then({ on_timeout: 'cancel' })).toBe('then the run is cancelled')
    expect(then({ on_timeout: 'escalate', escalate_to: to })).toBe('then escalates to managers')
    expect(then({ on_timeout: 'escalate', escalate_to: to, escalated: true })).toBe('then it fails')
    expect(then({})).toBe(null)
  })

  it('has one decision that stands out, with one key each', () => {
    const asks = decisionOptions(['retry', 'restart', 'accept', 'fail'])
    expect(asks.filter(([, ask]) => ask.weight === 'primary').map(([name]) => name)).toEqual(['accept'])
    expect(asks.flatMap(([, ask]) => ask.key ?? [])).toEqual(['R', 'A'])
  })
})
