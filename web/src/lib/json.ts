import { isLosslessNumber, isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json'

/** Numbers that a double can represent exactly stay numbers. Others keep their digits. */
function parseNumber(digits: string): unknown {
  return isSafeNumber(digits, { approx: false }) ? Number(digits) : new LosslessNumber(digits)
}

/** Parses JSON without losing digits. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, parseNumber)
}

/** Serializes JSON with all digits. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null'
}

/** Indents JSON without changing numbers. Invalid JSON is returned unchanged. */
export function formatJson(text: string): string {
  try {
    return stringify(parse(text), undefined, 2) ?? text
  } catch {
    return text
  }
}

/** Formats a value from `parseJson`. */
export function formatValue(value: unknown): string {
  return stringify(value, undefined, 2) ?? String(value)
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Parses a typed number exactly. Null if it is not a number. */
export function parseNumberInput(typed: string): unknown {
  const digits = typed.trim().replace(/^\+/, '')
  return NUMBER.test(digits) ? parseNumber(digits) : null
}

/** The text of a number field for a stored value. */
export function numberInputValue(value: unknown): string {
  return typeof value === 'number' || isLosslessNumber(value) ? String(value) : ''
}

/** The error message if a text is not valid JSON, else null. */
export function jsonError(text: string): string | null {
  try {
    parse(text)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'Invalid JSON.'
  }
}
