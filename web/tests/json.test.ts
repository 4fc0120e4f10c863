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

describe('numbers (P8, D48)', () => {
  it('come and go with all their digits', () => {
    const text = '{"id":12345678901234567890,"rate":0.1,"tiny":1e-400,"whole":7,"none":null}'
    expect(writeJson(parseJson(text))).toBe(text)
  })
  it('are plain numbers where a double holds them', () =>
    expect(parseJson('[1, 2.5, -3]')).toEqual([1, 2.5, -3]))
  it('are shown as they were written', () =>
    expect(formatJson('{"a":1.0,"b":12345678901234567890}')).toBe(
      '{\n  "a": 1.0,\n  "b": 12345678901234567890\n}',
    ))
  it('are shown the same from a value', () =>
    expect(formatValue(parseJson('[12345678901234567890]'))).toBe('[\n  12345678901234567890\n]'))
})

describe('what is not strict JSON', () => {
  it('is shown as it came', () => {
    expect(formatJson('{"a": NaN}')).toBe('{"a": NaN}')
    expect(formatJson('not json')).toBe('not json')
  })
  it('says its fault', () => {
    expect(jsonError('{"a": 1}')).toBeNull()
    expect(jsonError('{"a": }')).not.toBeNull()
  })
})

describe('a number that a person typed', () => {
  it.each(['12345678901234567890', '0.1', '-7', '1e3'])('%s is sent as it is', (typed) =>
    expect(writeJson(parseNumberInput(typed))).toBe(typed === '1e3' ? '1000' : typed),
  )
  it('may have a plus and spaces', () => expect(parseNumberInput(' +5 ')).toBe(5))
  it.each(['', 'seven', '1,5', '0x10', '--1', '007'])('%s is none', (typed) =>
    expect(parseNumberInput(typed)).toBeNull(),
  )
  it('comes back into its field with all digits', () =>
    expect(numberInputValue(parseJson('12345678901234567890'))).toBe('12345678901234567890'))
})
