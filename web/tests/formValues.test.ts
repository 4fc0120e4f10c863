import { describe, expect, it } from 'vitest'
import type { Form, FormField } from '~/api/types'
import { fieldHint, initialValues, parseAnswers } from '~/features/approvals/formValues'
import { writeJson } from '~/lib/json'

const field = (name: string, type: FormField['type'], facts: Partial<FormField> = {}): FormField => ({
  field_id: name,
  name,
  type,
  label: name,
  required: true,
  default: null,
  validation: null,
  ...facts,
})
const form = (fields: FormField[], values: Form['values'] = null): Form => ({
  instructions: '',
  fields,
  values,
  feedback: null,
})

const upload = { upload_id: 'u1', filename: 'offer.pdf', size_bytes: 12 }

describe('initialValues', () => {
  const fields = [field('name', 'text'), field('volume', 'number', { default: 6 }), field('sure', 'boolean')]
  it('start with the defaults', () =>
    expect(initialValues(form(fields), null)).toEqual({ name: '', volume: '6', sure: false }))
  it('show the last answers for a revision', () =>
    expect(initialValues(form(fields, { name: 'ACME', volume: 0, sure: true }), null)).toEqual({
      name: 'ACME',
      volume: '0',
      sure: true,
    }))
  it('prefer the draft', () =>
    expect(initialValues(form(fields, { name: 'ACME' }), { name: 'ACME Ltd', volume: '1e' })).toEqual({
      name: 'ACME Ltd',
      volume: '1e',
      sure: false,
    }))
  it('keep an uploaded file', () =>
    expect(initialValues(form([field('offer', 'file')]), { offer: upload })).toEqual({ offer: upload }))
})

describe('parseAnswers', () => {
  it('converts every field type', () => {
    const fields = [
      field('name', 'text'),
      field('volume', 'number'),
      field('sure', 'boolean'),
      field('offer', 'file'),
    ]
    const answers = parseAnswers(form(fields), {
      name: 'ACME',
      volume: '12345678901234567890',
      sure: true,
      offer: upload,
    })
    expect(writeJson(answers)).toBe(
      '{"fields":{"name":"ACME","volume":12345678901234567890,"sure":true,"offer":"u1"}}',
    )
  })
  it('leaves out what is empty and optional', () =>
    expect(
      parseAnswers(form([field('notes', 'multiline_text', { required: false })]), { notes: ' ' }),
    ).toEqual({
      fields: {},
    }))
  it('reports each invalid field', () => {
    const fields = [field('name', 'text'), field('volume', 'number'), field('offer', 'file')]
    expect(parseAnswers(form(fields), { name: '', volume: 'many', offer: null })).toEqual({
      errors: {
        name: 'This field is required.',
        volume: 'Enter a number, such as 1200 or 12.5.',
        offer: 'Choose a file.',
      },
    })
  })
})

describe('fieldHint', () => {
  it.each([
    ['.{20,}', 'At least 20 characters'],
    ['^.{2,5}$', '2 to 5 characters'],
    ['.{0,9}', 'At most 9 characters'],
    ['.{4}', 'Exactly 4 characters'],
    ['[A-Z]+', 'Must match [A-Z]+'],
    [{ minimum: 1, maximum: 60 }, 'At least 1, at most 60'],
    [{ type: 'integer' }, undefined],
    [null, undefined],
  ])('%o is %s', (validation, words) => expect(fieldHint(field('x', 'text', { validation }))).toBe(words))
})
