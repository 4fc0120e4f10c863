import type { LogLine } from '~/api/types'
import { writeJson } from './json'

/** The lowest level that is shown. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error'
export type LogFilter = { minLevel: LogLevel; search: string }

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warning', 'error']

export function levelsAtLeast(from: LogLevel): LogLevel[] {
  return LEVELS.slice(LEVELS.indexOf(from))
}

export function matches(line: LogLine, { minLevel: from, search }: LogFilter): boolean {
  return (
    LEVELS.indexOf(line.level) >= LEVELS.indexOf(from) &&
    (search === '' || line.message.toLowerCase().includes(search.toLowerCase()))
  )
}

/** Merges two lists of log lines in order, without duplicates. */
export function mergeLines(one: readonly LogLine[], other: readonly LogLine[]): readonly LogLine[] {
  const [first, second] = idOf(one[0]) <= idOf(other[0]) ? [one, other] : [other, one]
  if (second.length === 0) return first
  if (idOf(first.at(-1)) < idOf(second[0])) return [...first, ...second]
  // The overlap is at the end of the first list and usually short.
  const from = first.findLastIndex((line) => line.log_id < idOf(second[0])) + 1
  const tail = first.slice(from)
  const known = new Set(tail.map((line) => line.log_id))
  const more = second.filter((line) => !known.has(line.log_id))
  if (more.length === 0) return first
  return [...first.slice(0, from), ...[...tail, ...more].sort((a, b) => a.log_id - b.log_id)]
}

const idOf = (line: LogLine | undefined) => line?.log_id ?? Number.POSITIVE_INFINITY

/** The stream that a script printed to. */
export function streamOf(line: LogLine): string | null {
  const stream = detailsOf(line).stream
  return stream === 'stdout' || stream === 'stderr' ? stream : null
}

function detailsOf({ details }: LogLine): Record<string, unknown> {
  return typeof details === 'object' && details !== null && !Array.isArray(details)
    ? (details as Record<string, unknown>)
    : {}
}

/** The details of a line: rows=12 file="a.csv". */
export function detailText(line: LogLine): string {
  return Object.entries(detailsOf(line))
    .filter(([name]) => name !== 'stream' || streamOf(line) === null)
    .map(([name, value]) => `${name}=${writeJson(value)}`)
    .join(' ')
}

/** The stream or level of a line. */
export function levelLabel(line: LogLine): string {
  return streamOf(line) ?? line.level
}

/** 14:07:31.042 in local time. */
export function logTime(instant: string): string {
  const date = new Date(instant)
  const part = (number: number, digits = 2) => String(number).padStart(digits, '0')
  return `${part(date.getHours())}:${part(date.getMinutes())}:${part(date.getSeconds())}.${part(date.getMilliseconds(), 3)}`
}

/** Lines as text for the clipboard. */
export function toText(lines: readonly LogLine[]): string {
  return lines.map((line) => [logDateTime(line.timestamp), ...lineParts(line)].join(' ')).join('\n')
}

function lineParts(line: LogLine): string[] {
  const details = detailText(line)
  return details === '' ? [levelLabel(line), line.message] : [levelLabel(line), line.message, details]
}

function logDateTime(instant: string): string {
  const date = new Date(instant)
  const part = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())} ${logTime(instant)}`
}

/** Estimates the rows of a message. Measuring corrects it. */
export function estimateRows(message: string, columns: number): number {
  if (message.length <= columns && !message.includes('\n')) return 1
  return message.split('\n').reduce((rows, row) => rows + Math.max(1, Math.ceil(row.length / columns)), 0)
}

/** Splits a text so that matches are at odd indexes. */
export function splitMatches(text: string, search: string): string[] {
  if (search === '') return [text]
  const [lower, needle] = [text.toLowerCase(), search.toLowerCase()]
  if (lower.length !== text.length) return [text]
  const parts: string[] = []
  let from = 0
  for (let date = lower.indexOf(needle); date >= 0; date = lower.indexOf(needle, from)) {
    parts.push(text.slice(from, date), text.slice(date, date + needle.length))
    from = date + needle.length
  }
  return [...parts, text.slice(from)]
}
