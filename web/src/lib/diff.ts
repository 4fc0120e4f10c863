import { diffArrays } from 'diff'

export type DiffPart = { kind: 'same' | 'removed' | 'added'; text: string }

/** Texts with more edits than this are shown as replaced: finding them would block the page. */
const MAX_EDITS = 1000

function diffTokens(before: string[], after: string[]): DiffPart[] {
  const changes = diffArrays(before, after, { maxEditLength: MAX_EDITS })
  if (changes === undefined) {
    return [
      { kind: 'removed', text: before.join('') },
      { kind: 'added', text: after.join('') },
    ]
  }
  return changes.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value.join(''),
  }))
}

const splitLines = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/))
const splitWords = (text: string) => text.match(/\s+|\S+/g) ?? []
const withoutFinalBreak = (text: string) => text.replace(/\n$/, '')

/** The changes between two texts, word by word. */
export function diffWords(before: string, after: string): DiffPart[] {
  return diffTokens(splitWords(before), splitWords(after))
}

export type DiffLine = { sign: '−' | '+' | ' ' | '…'; parts: DiffPart[] }

/** The changed lines only: the old ones, then the new ones, with the changed words marked. */
export function changedLines(before: string, after: string): DiffLine[] {
  return diffLines(before, after, 0).filter(({ sign }) => sign === '−' || sign === '+')
}

const CONTEXT_LINES = 3

/** Two texts line by line: changed lines, some lines around them, and how many unchanged lines are left out. */
export function diffLines(before: string, after: string, context = CONTEXT_LINES): DiffLine[] {
  const blocks = diffTokens(splitLines(before), splitLines(after))
  return blocks.flatMap((block, index) => {
    if (block.kind === 'same')
      return unchangedLines(block.text, index === 0 ? 0 : context, index === blocks.length - 1 ? 0 : context)
    if (block.kind === 'added' && blocks[index - 1]?.kind === 'removed') return [] // part of the block before
    return changedBlock(block, blocks[index + 1])
  })
}

function unchangedLines(text: string, head: number, tail: number): DiffLine[] {
  const lines = withoutFinalBreak(text).split('\n')
  const hidden = lines.length - head - tail
  const shown = (part: readonly string[]): DiffLine[] =>
    part.map((line) => ({ sign: ' ', parts: [{ kind: 'same', text: line }] }))
  if (hidden <= 1) return shown(lines)
  return [
    ...shown(lines.slice(0, head)),
    { sign: '…', parts: [{ kind: 'same', text: `${hidden} unchanged lines` }] },
    ...shown(lines.slice(lines.length - tail)),
  ]
}

function changedBlock(block: DiffPart, next: DiffPart | undefined): DiffLine[] {
  if (block.kind === 'removed' && next?.kind === 'added') {
    const parts = diffWords(withoutFinalBreak(block.text), withoutFinalBreak(next.text))
    return [
      ...toLines(
        '−',
        parts.filter(({ kind }) => kind !== 'added'),
      ),
      ...toLines(
        '+',
        parts.filter(({ kind }) => kind !== 'removed'),
      ),
    ]
  }
  return toLines(block.kind === 'removed' ? '−' : '+', [{ ...block, text: withoutFinalBreak(block.text) }])
}

function toLines(sign: '−' | '+', parts: readonly DiffPart[]): DiffLine[] {
  const lines: DiffLine[] = [{ sign, parts: [] }]
  for (const { kind, text } of parts) {
    text.split('\n').forEach((line, index) => {
      if (index > 0) lines.push({ sign, parts: [] })
      if (line !== '') lines.at(-1)?.parts.push({ kind, text: line })
    })
  }
  return lines
}
