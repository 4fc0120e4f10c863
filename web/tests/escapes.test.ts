import { describe, expect, it } from 'vitest'
import { visibleParts } from '~/lib/escapes'

const shown = (text: string) =>
  visibleParts(text)
    .map((part) => (part.escaped ? `[${part.text}]` : part.text))
    .join('')

describe('visibleParts', () => {
  it.each([
    ['Plain text,\n\tÄpfel, Привет', 'Plain text,\n\tÄpfel, Привет'],
    ['a\u202eb', 'a[\\u{202e}]b'],
    ['a\u200bb', 'a[\\u{200b}]b'],
    ['a\u00a0b\r', 'a[\\u{00a0}]b[\\u{000d}]'],
    ['p\u0430ypal.com', 'p[\\u{0430}]ypal.com'],
    ['\u{e0041}', '[\\u{e0041}]'],
    ['\ud800', '[\\u{d800}]'],
  ])('shows %j', (text, expected) => expect(shown(text)).toBe(expected))
})
