import { isLosslessNumber, isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json'

/** A number that a double holds exactly stays a number; any other keeps its digits. */
function parseNumber(digits: string): unknown {
  return isSafeNumber(digits, { approx: false }) ? Number(digits) : new LosslessNumber(digits)
}

/** Reads JSON of the API without losing digits. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, parseNumber)
}

/** Writes JSON; numbers kept as digits are written with these digits. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null'
}

/** Indents JSON for reading: every number is shown as it was written. What is not strict JSON is shown as it came. */
export function formatJson(text: string): string {
  try {
    return stringify(parse(text), undefined, 2) ?? text
  } catch {
    return text
  }
}

/** Indents a value that `parseJson` gave. */
export function formatValue(value: unknown): string {
  return stringify(value, undefined, 2) ?? String(value)
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** The number that a person typed, exact; null if it is none. */
export function parseNumberInput(typed: string): unknown {
  const digits = typed.trim().replace(/^\+/, '')
  return NUMBER.test(digits) ? parseNumber(digits) : null
}

/** What a number field shows for a stored value. */
export function numberInputValue(value: unknown): string {
  return typeof value === 'number' || isLosslessNumber(value) ? String(value) : ''
}

/** Says why a text is not JSON, or null when it is. */
export function jsonError(text: string): string | null {
  try {
    parse(text)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'Invalid JSON.'
  }
}
