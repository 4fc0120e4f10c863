/** A piece of a text: kept, taken away, or put in. */
export type Piece = { kind: 'same' | 'gone' | 'new'; text: string }

/** Beyond this the longest common part is not looked for: the whole is shown as replaced. */
const MOST = 400

/** What both begin and end with is the same, however long it is. */
function common(before: readonly string[], after: readonly string[]): Piece[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const between = inner(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const same = (part: readonly string[]): Piece[] =>
    part.length === 0 ? [] : [{ kind: 'same', text: part.join('') }]
  return [...same(before.slice(0, start)), ...between, ...same(before.slice(before.length - end))]
}

function inner(before: readonly string[], after: readonly string[]): Piece[] {
  if (before.length > MOST || after.length > MOST) {
    const replaced: Piece[] = [
      { kind: 'gone', text: before.join('') },
      { kind: 'new', text: after.join('') },
    ]
    return replaced.filter((piece) => piece.text !== '')
  }
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = lengths[i] ?? []
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pieces: Piece[] = []
  const add = (kind: Piece['kind'], text: string) => {
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += text
    else pieces.push({ kind, text })
  }
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      add('same', before[i] ?? '')
      i++
      j++
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      add('gone', before[i++] ?? '')
    } else {
      add('new', after[j++] ?? '')
    }
  }
  return pieces
}

const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/))
const words = (text: string) => text.match(/\s+|[^\s]+/g) ?? []

/** What changed between two texts, word by word. */
export function wordDiff(before: string, after: string): Piece[] {
  return common(words(before), words(after))
}

export type ChangedLine = { sign: '−' | '+'; pieces: Piece[] }

/** The lines that changed: first as they were, then as they are, with the words that differ. */
export function lineDiff(before: string, after: string): ChangedLine[] {
  const lines = common(linesOf(before), linesOf(after))
  const changed: ChangedLine[] = []
  lines.forEach((piece, index) => {
    if (piece.kind === 'same') return
    const [previous, next] = [lines[index - 1], lines[index + 1]]
    if (piece.kind === 'new' && previous?.kind === 'gone') return // stands with the line before
    if (piece.kind === 'gone' && next?.kind === 'new') {
      const pieces = wordDiff(piece.text.replace(/\n$/, ''), next.text.replace(/\n$/, ''))
      changed.push({ sign: '−', pieces: pieces.filter((one) => one.kind !== 'new') })
      changed.push({ sign: '+', pieces: pieces.filter((one) => one.kind !== 'gone') })
    } else {
      const sign = piece.kind === 'gone' ? '−' : '+'
      changed.push({ sign, pieces: [{ kind: piece.kind, text: piece.text.replace(/\n$/, '') }] })
    }
  })
  return changed
}

/** Lines around a change that are shown with it. */
const AROUND = 3

export type ComparedLine = { sign: '−' | '+' | ' ' | '…'; pieces: Piece[] }

/** Two texts line by line: what changed with its words, a few lines around it, and how many are left out. */
export function comparison(before: string, after: string): ComparedLine[] {
  const blocks = common(linesOf(before), linesOf(after))
  const shown: ComparedLine[] = []
  blocks.forEach((block, index) => {
    if (block.kind === 'same') {
      const lines = block.text.replace(/\n$/, '').split('\n')
      const head = index === 0 ? 0 : AROUND
      const tail = index === blocks.length - 1 ? 0 : AROUND
      const left = lines.length - head - tail
      const kept = (part: readonly string[]) =>
        shown.push(...part.map((text): ComparedLine => ({ sign: ' ', pieces: [{ kind: 'same', text }] })))
      if (left <= 1) {
        kept(lines)
        return
      }
      kept(lines.slice(0, head))
      shown.push({ sign: '…', pieces: [{ kind: 'same', text: `${left} lines are the same` }] })
      kept(lines.slice(lines.length - tail))
      return
    }
    if (block.kind === 'gone' || blocks[index - 1]?.kind !== 'gone')
      shown.push(...changedLines(block, blocks[index + 1]))
  })
  return shown
}

/** A stretch that went, came, or was replaced by the one after it. */
function changedLines(block: Piece, next: Piece | undefined): ComparedLine[] {
  if (block.kind === 'gone' && next?.kind === 'new') {
    const pieces = wordDiff(block.text.replace(/\n$/, ''), next.text.replace(/\n$/, ''))
    return [...signed('−', pieces, 'new'), ...signed('+', pieces, 'gone')]
  }
  return signed(block.kind === 'gone' ? '−' : '+', [{ ...block, text: block.text.replace(/\n$/, '') }])
}

/** Pieces as lines of their own. */
function signed(sign: '−' | '+', pieces: readonly Piece[], without?: Piece['kind']): ComparedLine[] {
  const lines: ComparedLine[] = [{ sign, pieces: [] }]
  for (const piece of pieces.filter((one) => one.kind !== without)) {
    piece.text.split('\n').forEach((text, index) => {
      if (index > 0) lines.push({ sign, pieces: [] })
      if (text !== '') lines.at(-1)?.pieces.push({ kind: piece.kind, text })
    })
  }
  return lines
}
