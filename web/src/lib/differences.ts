/** A piece of a text: kept, taken away, or put in. */
export type Piece = { kind: 'same' | 'gone' | 'new'; text: string }

/** Beyond this the longest common part is not looked for: the whole is shown as replaced. */
const MOST = 400

function common(before: readonly string[], after: readonly string[]): Piece[] {
  if (before.length > MOST || after.length > MOST) {
    return [
      { kind: 'gone', text: before.join('') },
      { kind: 'new', text: after.join('') },
    ]
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
