import { describe, expect, it } from 'vitest'
import { jsonFault, parseJson, prettyJson, prettyValue, readNumber, showNumber, writeJson } from '~/lib/json'

describe('numbers (P8, D48)', () => {
  it('come and go with all their digits', () => {
    const text = '{"id":12345678901234567890,"rate":0.1,"tiny":1e-400,"whole":7,"none":null}'
    expect(writeJson(parseJson(text))).toBe(text)
  })
  it('are plain numbers where a double holds them', () =>
    expect(parseJson('[1, 2.5, -3]')).toEqual([1, 2.5, -3]))
  it('are shown as they were written', () =>
    expect(prettyJson('{"a":1.0,"b":12345678901234567890}')).toBe(
      '{\n  "a": 1.0,\n  "b": 12345678901234567890\n}',
    ))
  it('are shown the same from a value', () =>
    expect(prettyValue(parseJson('[12345678901234567890]'))).toBe('[\n  12345678901234567890\n]'))
})

describe('what is not strict JSON', () => {
  it('is shown as it came', () => {
    expect(prettyJson('{"a": NaN}')).toBe('{"a": NaN}')
    expect(prettyJson('not json')).toBe('not json')
  })
  it('says its fault', () => {
    expect(jsonFault('{"a": 1}')).toBeNull()
    expect(jsonFault('{"a": }')).not.toBeNull()
  })
})

describe('a number that a person typed', () => {
  it.each(['12345678901234567890', '0.1', '-7', '1e3'])('%s is sent as it is', (typed) =>
    expect(writeJson(readNumber(typed))).toBe(typed === '1e3' ? '1000' : typed),
  )
  it('may have a plus and spaces', () => expect(readNumber(' +5 ')).toBe(5))
  it.each(['', 'seven', '1,5', '0x10', '--1', '007'])('%s is none', (typed) =>
    expect(readNumber(typed)).toBeNull(),
  )
  it('comes back into its field with all digits', () =>
    expect(showNumber(parseJson('12345678901234567890'))).toBe('12345678901234567890'))
})
