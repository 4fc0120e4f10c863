import type { ProblemError } from './problems'

/** Findings by line. Those without a line are at 0. */
export function groupByLine<T extends ProblemError>(findings: readonly T[]): Map<number, T[]> {
  const lines = new Map<number, T[]>()
  for (const finding of findings) {
    const line = finding.line ?? 0
    lines.set(line, [...(lines.get(line) ?? []), finding])
  }
  return lines
}

/** The start and end of a line, for selecting it. */
export function rangeOfLine(text: string, line: number): [number, number] {
  const lines = text.split('\n')
  const index = Math.min(Math.max(line, 1), lines.length) - 1
  const start = lines.slice(0, index).reduce((sum, item) => sum + item.length + 1, 0)
  return [start, start + (lines[index]?.length ?? 0)]
}
