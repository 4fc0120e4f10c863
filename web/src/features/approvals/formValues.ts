import type { Form, FormField } from '~/api/types'
import { readNumber, showNumber } from '~/lib/json'

/** A file that is on the server already and waits to be sent with the form. */
export type Upload = { upload_id: string; filename: string; size_bytes: number }

/** What stands in the inputs: texts as typed, so that a half-written number is kept as it is. */
export type Typed = Record<string, string | boolean | Upload | null>

export function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'upload_id' in value && 'filename' in value
}

function typed(field: FormField, value: unknown): Typed[string] {
  switch (field.type) {
    case 'boolean':
      return value === true
    case 'file':
      return isUpload(value) ? value : null
    case 'number':
      return typeof value === 'string' ? value : showNumber(value)
    case 'text':
    case 'multiline_text':
      return value === null || value === undefined ? '' : String(value)
  }
}

/** What a form opens with: what was typed before, else the last answers, else the defaults. */
export function openingValues(form: Form, draft: Record<string, unknown> | null): Typed {
  return Object.fromEntries(
    form.fields.map((field) => [
      field.name,
      typed(field, draft?.[field.name] ?? form.values?.[field.name] ?? field.default),
    ]),
  )
}

export type Answers = { fields: Record<string, unknown> } | { faults: Record<string, string> }

/** Turns what was typed into answers, or names each field that cannot be sent. The server checks the rest. */
export function answersOf(form: Form, values: Typed): Answers {
  const faults: Record<string, string> = {}
  const fields: Record<string, unknown> = {}
  for (const field of form.fields) {
    const value = values[field.name]
    if (field.type === 'boolean') {
      fields[field.name] = value === true
    } else if (field.type === 'file') {
      if (isUpload(value)) fields[field.name] = value.upload_id
      else if (field.required) faults[field.name] = 'Choose a file.'
    } else if (typeof value !== 'string' || value.trim() === '') {
      if (field.required) faults[field.name] = 'Fill this in.'
    } else if (field.type === 'number') {
      const number = readNumber(value)
      if (number === null) faults[field.name] = 'This is not a number. Write it like 1200 or 12.5.'
      else fields[field.name] = number
    } else {
      fields[field.name] = value
    }
  }
  return Object.keys(faults).length > 0 ? { faults } : { fields }
}

const LENGTH = /^\^?\.\{(\d+)?(,)?(\d+)?\}\$?$/

/** A pattern that only counts characters is said in words. */
function patternWords(pattern: string): string {
  const [, least, comma, most] = LENGTH.exec(pattern) ?? []
  if (least !== undefined && comma === undefined) return `Exactly ${least} characters`
  if (least !== undefined && most === undefined) return `At least ${least} characters`
  if (most !== undefined)
    return Number(least ?? 0) === 0 ? `At most ${most} characters` : `${least} to ${most} characters`
  return `Must match ${pattern}`
}

/** What the field expects, in words, when its check can be said in words. */
export function hint(field: FormField): string | undefined {
  if (typeof field.validation === 'string' && field.validation !== '') return patternWords(field.validation)
  if (typeof field.validation !== 'object' || field.validation === null) return undefined
  const rule = field.validation as Record<string, unknown>
  const parts = [
    rule.minimum !== undefined && `at least ${rule.minimum}`,
    rule.maximum !== undefined && `at most ${rule.maximum}`,
    rule.minLength !== undefined && `at least ${rule.minLength} characters`,
    rule.maxLength !== undefined && `at most ${rule.maxLength} characters`,
    Array.isArray(rule.enum) && `one of ${rule.enum.join(', ')}`,
    typeof rule.pattern === 'string' && `must match ${rule.pattern}`,
  ].filter((part): part is string => typeof part === 'string')
  const words = parts.join(', ')
  return words === '' ? undefined : words.charAt(0).toUpperCase() + words.slice(1)
}
