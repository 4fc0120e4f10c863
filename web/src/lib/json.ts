import { isLosslessNumber, isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json'

/** A number that a double holds exactly stays a number; any other keeps its digits. */
function keepDigits(digits: string): unknown {
  return isSafeNumber(digits, { approx: false }) ? Number(digits) : new LosslessNumber(digits)
}

/** Reads JSON of the API without losing digits. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, keepDigits)
}

/** Writes JSON; numbers kept as digits are written with these digits. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null'
}

/** Indents JSON for reading: every number is shown as it was written. What is not strict JSON is shown as it came. */
export function prettyJson(text: string): string {
  try {
    return stringify(parse(text), undefined, 2) ?? text
  } catch {
    return text
  }
}

/** Indents a value that `parseJson` gave. */
export function prettyValue(value: unknown): string {
  return stringify(value, undefined, 2) ?? String(value)
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** The number that a person typed, exact; null if it is none. */
export function readNumber(typed: string): unknown {
  const digits = typed.trim().replace(/^\+/, '')
  return NUMBER.test(digits) ? keepDigits(digits) : null
}

/** What a number field shows for a stored value. */
export function showNumber(value: unknown): string {
  return typeof value === 'number' || isLosslessNumber(value) ? String(value) : ''
}

/** Says why a text is not JSON, or null when it is. */
export function jsonFault(text: string): string | null {
  try {
    parse(text)
    return null
  } catch (fault) {
    return fault instanceof Error ? fault.message : 'This is not JSON.'
  }
}
