import Papa from 'papaparse'

/** The rows of a CSV text, separated by comma, semicolon or tab. */
export function parseCsv(text: string, maxRows = 0): string[][] {
  return Papa.parse<string[]>(text, {
    preview: maxRows,
    skipEmptyLines: true,
    delimitersToGuess: [',', ';', '\t'],
  }).data
}

/** Whether a column holds numbers only: those are aligned to the right. */
export function isNumeric(rows: readonly string[][], column: number): boolean {
  const cells = rows.map((row) => row[column]?.trim() ?? '').filter((cell) => cell !== '')
  return cells.length > 0 && cells.every((cell) => /^[-+]?[$€£]?\d[\d,.' ]*%?$/.test(cell))
}
