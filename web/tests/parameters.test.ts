import { describe, expect, it } from 'vitest'
import { applyPatch, inputValues, parameterFields, patchFromInputs, patchFromJson } from '~/lib/parameters'

const SCHEMA = {
  required: ['to', 'subject'],
  properties: {
    to: { title: 'To', anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    subject: { title: 'Subject', type: 'string' },
    body: { title: 'Text', type: 'string', contentMediaType: 'text/plain' },
    amount: { title: 'Amount', type: 'number', exclusiveMinimum: 0 },
    attachments: { type: 'array', items: { type: 'string' } },
    method: { enum: ['GET', 'POST'] },
  },
}
const GIVEN = {
  to: 'a@example.com',
  subject: 'Hello',
  amount: 99.99,
  attachments: ['a.txt'],
  extra: { deep: 1 },
}
const FIELDS = parameterFields(SCHEMA, GIVEN)
const patch = (typed: Record<string, string | boolean>) =>
  patchFromInputs(FIELDS, GIVEN, { ...inputValues(FIELDS, GIVEN), ...typed })

describe('action parameters', () => {
  it('become fields from the schema and the values', () =>
    expect(FIELDS.map(({ name, label, input: way, required }) => [name, label, way, required])).toEqual([
      ['to', 'To', 'line', true],
      ['subject', 'Subject', 'line', true],
      ['body', 'Text', 'text', false],
      ['amount', 'Amount', 'number', false],
      ['attachments', 'Attachments', 'list', false],
      ['method', 'Method', 'choice', false],
      ['extra', 'Extra', 'json', false],
    ]))

  it('describe their limits', () =>
    expect(FIELDS.find(({ name }) => name === 'amount')?.hint).toBe('Must be greater than 0.'))

  it('are not changed by rendering', () => expect(patch({})).toEqual({ patch: {}, errors: {} }))

  it('are changed by typed values', () =>
    expect(
      patch({ amount: '89.99', attachments: 'a.txt\n\nb.txt', body: 'Dear', extra: '{"deep": 2}' }),
    ).toEqual({
      patch: { amount: 89.99, attachments: ['a.txt', 'b.txt'], body: 'Dear', extra: { deep: 2 } },
      errors: {},
    }))

  it('are removed when emptied, unless they are required', () =>
    expect(patch({ amount: '', attachments: '', subject: '' })).toEqual({
      patch: { amount: null, attachments: null, subject: '' },
      errors: {},
    }))

  it('report invalid values', () =>
    expect(Object.keys(patch({ amount: 'ten', extra: '{' }).errors)).toEqual(['amount', 'extra']))

  it("keep digits that a double can't hold", () =>
    expect(String(patch({ amount: '12345678901234567890.5' }).patch.amount)).toBe('12345678901234567890.5'))

  it('can be edited as JSON', () => {
    expect(patchFromJson(GIVEN, '{"to": "b@example.com", "subject": "Hello", "amount": 99.99}')).toEqual({
      patch: { to: 'b@example.com', attachments: null, extra: null },
    })
    expect(patchFromJson(GIVEN, '[1]')).toHaveProperty('error')
    expect(patchFromJson(GIVEN, '{')).toHaveProperty('error')
    expect(applyPatch(GIVEN, { amount: null, to: 'c@example.com' })).not.toHaveProperty('amount')
  })
})
