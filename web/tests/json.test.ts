import { describe, expect, it } from 'vitest'
import {
  formatJson,
  formatValue,
  jsonError,
  numberInputValue,
  parseJson,
  parseNumberInput,
  writeJson,
} from '~/lib/json'

describe('JSON numbers', () => {
  it('keep all digits in both directions', () => {
    const text = '{"id":12345678901234567890,"rate":0.1,"tiny":1e-400,"whole":7,"none":null}'
    expect(writeJson(parseJson(text))).toBe(text)
  })
  it('stay plain numbers if a double can hold them', () =>
    expect(parseJson('[1, 2.5, -3]')).toEqual([1, 2.5, -3]))
  it('are formatted unchanged', () =>
    expect(formatJson('{"a":1.0,"b":12345678901234567890}')).toBe(
      '{\n  "a": 1.0,\n  "b": 12345678901234567890\n}',
    ))
  it('are formatted unchanged from a parsed value', () =>
    expect(formatValue(parseJson('[12345678901234567890]'))).toBe('[\n  12345678901234567890\n]'))
})

describe('invalid JSON', () => {
  it('is returned unchanged', () => {
    expect(formatJson('{"a": NaN}')).toBe('{"a": NaN}')
    expect(formatJson('not json')).toBe('not json')
  })
  it('returns the error', () => {
    expect(jsonError('{"a": 1}')).toBeNull()
    expect(jsonError('{"a": }')).not.toBeNull()
  })
})

describe('parseNumberInput', () => {
  it.each(['12345678901234567890', '0.1', '-7', '1e3'])('%s is sent as it is', (typed) =>
    expect(writeJson(parseNumberInput(typed))).toBe(typed === '1e3' ? '1000' : typed),
  )
  it('may have a plus and spaces', () => expect(parseNumberInput(' +5 ')).toBe(5))
  it.each(['', 'seven', '1,5', '0x10', '--1', '007'])('%s is none', (typed) =>
    expect(parseNumberInput(typed)).toBeNull(),
  )
  it('is shown again with all digits', () =>
    expect(numberInputValue(parseJson('12345678901234567890'))).toBe('12345678901234567890'))
})
