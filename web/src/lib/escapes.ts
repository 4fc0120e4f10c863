export type TextPart = { text: string; escaped: boolean }

/** Control, invisible, bidirectional and unassigned characters, and spaces that look like others. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u
const WORD = /[\p{L}\p{M}\p{N}]+/gu
const LATIN = /\p{Script=Latin}/u
const OTHER_SCRIPT = /(?=\p{L})\P{Script=Latin}/u

/** Splits a text so that characters that can deceive a reader become visible escapes. Line breaks and tabs stay. */
export function visibleParts(text: string): TextPart[] {
  const mixed = new Set<number>()
  for (const match of text.matchAll(WORD)) {
    if (!LATIN.test(match[0]) || !OTHER_SCRIPT.test(match[0])) continue
    for (let at = match.index; at < match.index + match[0].length; at++) mixed.add(at)
  }
  const parts: TextPart[] = []
  let at = 0
  for (const character of text) {
    const isPlain = character === '\n' || character === '\t'
    const escaped = !isPlain && (HIDDEN.test(character) || (mixed.has(at) && OTHER_SCRIPT.test(character)))
    const shown = escaped ? `\\u{${character.codePointAt(0)?.toString(16).padStart(4, '0')}}` : character
    const last = parts.at(-1)
    if (last !== undefined && last.escaped === escaped) last.text += shown
    else parts.push({ text: shown, escaped })
    at += character.length
  }
  return parts
}
