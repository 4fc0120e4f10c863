/** Rows of cells; quotes keep separators, line breaks and quotes (RFC 4180). */
export function parseCsv(text: string, most = Number.POSITIVE_INFINITY): string[][] {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endCell = () => {
    row.push(cell)
    cell = ''
  }
  const endRow = () => {
    endCell()
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  const from = text.startsWith('\uFEFF') ? 1 : 0
  for (let at = from; at < text.length && rows.length < most; at += 1) {
    const sign = text[at]
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (text[at + 1] === '"') {
        cell += '"'
        at += 1
      } else quoted = false
    } else if (sign === '"' && cell === '') quoted = true
    else if (sign === separator) endCell()
    else if (sign === '\n') endRow()
    else if (sign !== '\r' || text[at + 1] !== '\n') cell += sign
  }
  if (rows.length < most && (cell !== '' || row.length > 0)) endRow()
  return rows
}

/** What stands most often in the first line: comma, semicolon or tab. */
function separatorOf(text: string): string {
  const line =
    text
      .slice(0, 10_000)
      .split('\n')[0]
      ?.replace(/"[^"]*"/g, '') ?? ''
  const counts = [',', ';', '\t'].map((sign) => [sign, line.split(sign).length] as const)
  return counts.reduce((best, each) => (each[1] > best[1] ? each : best))[0]
}

/** Whether a column holds figures alone: they are set at the right. */
export function isNumeric(rows: readonly string[][], column: number): boolean {
  const cells = rows.map((row) => row[column]?.trim() ?? '').filter((cell) => cell !== '')
  return cells.length > 0 && cells.every((cell) => /^[-+]?[$€£]?\d[\d,.' ]*%?$/.test(cell))
}
