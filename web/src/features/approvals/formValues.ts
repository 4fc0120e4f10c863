import type { Form, FormField } from '~/api/types'
import { numberInputValue, parseNumberInput } from '~/lib/json'

/** A file that is uploaded but not submitted yet. */
export type Upload = { upload_id: string; filename: string; size_bytes: number }

/** The values of the inputs. Numbers are kept as typed text. */
export type FormInputs = Record<string, string | boolean | Upload | null>

export function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'upload_id' in value && 'filename' in value
}

function inputValue(field: FormField, value: unknown): FormInputs[string] {
  switch (field.type) {
    case 'boolean':
      return value === true
    case 'file':
      return isUpload(value) ? value : null
    case 'number':
      return typeof value === 'string' ? value : numberInputValue(value)
    case 'text':
    case 'multiline_text':
      return value === null || value === undefined ? '' : String(value)
  }
}

/** The initial values: the draft, else the last answers, else the defaults. */
export function initialValues(form: Form, draft: Record<string, unknown> | null): FormInputs {
  return Object.fromEntries(
    form.fields.map((field) => [
      field.name,
      inputValue(field, draft?.[field.name] ?? form.values?.[field.name] ?? field.default),
    ]),
  )
}

export type Answers = { fields: Record<string, unknown> } | { errors: Record<string, string> }

/** Converts inputs to answers, or reports the fields that can't be submitted. The server validates the rest. */
export function parseAnswers(form: Form, values: FormInputs): Answers {
  const errors: Record<string, string> = {}
  const fields: Record<string, unknown> = {}
  for (const field of form.fields) {
    const value = values[field.name]
    if (field.type === 'boolean') {
      fields[field.name] = value === true
    } else if (field.type === 'file') {
      if (isUpload(value)) fields[field.name] = value.upload_id
      else if (field.required) errors[field.name] = 'Choose a file.'
    } else if (typeof value !== 'string' || value.trim() === '') {
      if (field.required) errors[field.name] = 'This field is required.'
    } else if (field.type === 'number') {
      const number = parseNumberInput(value)
      if (number === null) errors[field.name] = 'Enter a number, such as 1200 or 12.5.'
      else fields[field.name] = number
    } else {
      fields[field.name] = value
    }
  }
  return Object.keys(errors).length > 0 ? { errors } : { fields }
}

const LENGTH = /^\^?\.\{(\d+)?(,)?(\d+)?\}\$?$/

/** Describes a pattern that only limits the length. */
function patternText(pattern: string): string {
  const [, min, comma, max] = LENGTH.exec(pattern) ?? []
  if (min !== undefined && comma === undefined) return `Exactly ${min} characters`
  if (min !== undefined && max === undefined) return `At least ${min} characters`
  if (max !== undefined)
    return Number(min ?? 0) === 0 ? `At most ${max} characters` : `${min} to ${max} characters`
  return `Must match ${pattern}`
}

/** Describes the validation of a field, if it can be expressed in words. */
export function fieldHint(field: FormField): string | undefined {
  if (typeof field.validation === 'string' && field.validation !== '') return patternText(field.validation)
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
  const text = parts.join(', ')
  return text === '' ? undefined : text.charAt(0).toUpperCase() + text.slice(1)
}
