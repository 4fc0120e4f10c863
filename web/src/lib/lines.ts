import type { ProblemError } from './problems'

/** Findings by the line they stand at; those without a line stand at 0. */
export function groupByLine<T extends ProblemError>(findings: readonly T[]): Map<number, T[]> {
  const lines = new Map<number, T[]>()
  for (const finding of findings) {
    const line = finding.line ?? 0
    lines.set(line, [...(lines.get(line) ?? []), finding])
  }
  return lines
}

/** Where a line begins and ends in a text, to select it. */
export function rangeOfLine(text: string, line: number): [number, number] {
  const lines = text.split('\n')
  const index = Math.min(Math.max(line, 1), lines.length) - 1
  const start = lines.slice(0, index).reduce((sum, item) => sum + item.length + 1, 0)
  return [start, start + (lines[index]?.length ?? 0)]
}
