import { describe, expect, it } from 'vitest'
import { canBatch, isSameDecision } from '~/features/approvals/batch'
import { decisionOptions } from '~/features/approvals/decisions'
import { fillPlaceholders, operationLabel, outcomeText } from '~/lib/actions'
import { changedLines } from '~/lib/diff'
import { timeoutText } from '~/lib/durations'
import { byUrgency } from '~/lib/waiting'
import { approvalItem } from '~/ui/PendingRows'
import { approval } from './fixtures'

describe('proposed actions', () => {
  it('have a label for the operation', () => {
    expect(operationLabel('send_email')).toBe('Send email')
    expect(operationLabel('close_ticket')).toBe('Close ticket')
  })

  it('replace placeholders with values', () => {
    expect(
      fillPlaceholders('{{ amount }} of {{order.id}}, {{ nothing }}', { amount: 9.5, order: { id: 'x' } }),
    ).toBe('9.5 of x, {{ nothing }}')
    expect(fillPlaceholders('{{ a }}', { a: '{{ b }}', b: 1 })).toBe('{{ b }}')
  })

  it.each([
    ['done', { to: ['a@example.com'], server: 'OK' }, 'Sent to a@example.com.'],
    ['failed', { error: 'refused' }, 'Approved, but the execution failed.'],
    ['unknown', { error: 'cut off' }, 'It is unknown whether the action was executed.'],
    ['started', null, 'Executing.'],
    ['handed_over', null, 'The approved parameters were returned to the proposer.'],
    ['reused', {}, 'Not executed: the earlier result is used.'],
  ] as const)('that is %s says so', (state, result, title) =>
    expect(outcomeText({ state, result, state_reason: '', operation_type: 'send_email' })?.title).toBe(title),
  )
})

describe('changedLines', () => {
  it('shows changed lines with marked words', () =>
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

  it('shows added and removed texts', () => {
    expect(changedLines('', 'new')).toEqual([{ sign: '+', parts: [{ kind: 'added', text: 'new' }] }])
    expect(changedLines('old', '')).toEqual([{ sign: '−', parts: [{ kind: 'removed', text: 'old' }] }])
  })
})

describe('pending items', () => {
  const at = (facts: Parameters<typeof approval>[0]) => approvalItem(approval(facts))

  it('sort by deadline, then age', () => {
    const items = [
      at({ approval_id: 'old', requested_at: '2026-01-01T00:00:00Z' }),
      at({ approval_id: 'risky', requested_at: '2026-02-01T00:00:00Z', risk_level: 'high' }),
      at({ approval_id: 'late', expires_at: '2026-03-02T00:00:00Z' }),
      at({ approval_id: 'soon', expires_at: '2026-03-01T00:00:00Z' }),
    ]
    expect(items.sort(byUrgency).map(({ id }) => id)).toEqual(['soon', 'late', 'old', 'risky'])
  })

  it('can only be batched with similar approvals', () => {
    const one = at({
      kind: 'action',
      operation_type: 'send_email',
      available_decisions: ['approve', 'reject'],
    })
    expect(canBatch(one)).toBe(true)
    expect(canBatch(at({ kind: 'action', can_decide: false }))).toBe(false)
    expect(canBatch(at({ kind: 'input', available_decisions: ['answer'] }))).toBe(false)
    expect(isSameDecision(one, at({ kind: 'action', operation_type: 'send_email' }))).toBe(true)
    expect(isSameDecision(one, at({ kind: 'action', operation_type: 'http_request' }))).toBe(false)
    expect(isSameDecision(one, at({ kind: 'completion' }))).toBe(false)
  })

  it('describe what happens at the deadline', () => {
    const to = ['managers']
    const then = (facts: Parameters<typeof approval>[0]) => timeoutText(approval(facts))
    expect(then({ on_timeout: 'fail' })).toBe('then it fails')
    expect(then({ on_timeout: 'cancel' })).toBe('then the run is cancelled')
    expect(then({ on_timeout: 'escalate', escalate_to: to })).toBe('then escalates to managers')
    expect(then({ on_timeout: 'escalate', escalate_to: to, escalated: true })).toBe('then it fails')
    expect(then({})).toBe(null)
  })

  it('have one primary decision and unique shortcuts', () => {
    const asks = decisionOptions(['retry', 'restart', 'accept', 'fail'])
    expect(asks.filter(([, ask]) => ask.weight === 'primary').map(([name]) => name)).toEqual(['accept'])
    expect(asks.flatMap(([, ask]) => ask.key ?? [])).toEqual(['R', 'A'])
  })
})
