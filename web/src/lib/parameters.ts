import { humanize, type Parameters } from './actions'
import { formatValue, jsonError, numberInputValue, parseJson, parseNumberInput, writeJson } from './json'

/** The kind of input for a parameter. */
export type InputKind = 'line' | 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'json'
export type ParameterField = {
  name: string
  label: string
  input: InputKind
  required: boolean
  hint: string
  choices: string[]
}

/** The values of the inputs, as typed. */
export type TypedParameters = Record<string, string | boolean>

type JsonObject = Record<string, unknown>
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

function inputKindOf(schema: JsonObject, value: unknown): InputKind {
  if (Array.isArray(schema.enum)) return 'choice'
  if (isStringList(value) && value.length > 0) return 'list'
  if (typeof value === 'boolean' || schema.type === 'boolean') return 'boolean'
  if (numberInputValue(value) !== '' || schema.type === 'number' || schema.type === 'integer') return 'number'
  if (typeof value === 'string') return value.includes('\n') || isProse(schema) ? 'text' : 'line'
  if (value !== undefined && value !== null)
    return Array.isArray(value) && value.length === 0 ? 'list' : 'json'
  if (schema.type === 'array' && isObject(schema.items) && schema.items.type === 'string') return 'list'
  if (schema.type === 'string' || Array.isArray(schema.anyOf)) return isProse(schema) ? 'text' : 'line'
  return 'json'
}

const isProse = (schema: JsonObject) => schema.contentMediaType !== undefined

function hintOf(schema: JsonObject): string {
  const parts = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.exclusiveMinimum !== undefined && `greater than ${schema.exclusiveMinimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.exclusiveMaximum !== undefined && `less than ${schema.exclusiveMaximum}`,
  ].filter((part): part is string => typeof part === 'string')
  const limits = parts.length === 0 ? '' : `Must be ${parts.join(' and ')}.`
  return [typeof schema.description === 'string' ? schema.description : '', limits].filter(Boolean).join(' ')
}

/** The fields of an action: those of its schema, then other parameters. */
export function parameterFields(schema: unknown, parameters: Parameters): ParameterField[] {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  const required = isObject(schema) && isStringList(schema.required) ? schema.required : []
  const names = [...new Set([...Object.keys(properties), ...Object.keys(parameters)])]
  return names.map((name) => {
    const part = isObject(properties[name]) ? properties[name] : {}
    const input = inputKindOf(part, parameters[name])
    return {
      name,
      label: typeof part.title === 'string' ? part.title : humanize(name),
      input,
      required: required.includes(name),
      hint: [hintOf(part), input === 'list' ? 'One per line.' : input === 'json' ? 'As JSON.' : '']
        .filter(Boolean)
        .join(' '),
      choices: Array.isArray(part.enum) ? part.enum.map(String) : [],
    }
  })
}

/** The initial value of an input. */
function inputValue(input: InputKind, value: unknown): string | boolean {
  switch (input) {
    case 'boolean':
      return value === true
    case 'number':
      return numberInputValue(value)
    case 'list':
      return isStringList(value) ? value.join('\n') : ''
    case 'json':
      return value === undefined ? '' : formatValue(value)
    case 'line':
    case 'text':
    case 'choice':
      return value === undefined || value === null ? '' : String(value)
  }
}

export function inputValues(fields: readonly ParameterField[], parameters: Parameters): TypedParameters {
  return Object.fromEntries(
    fields.map((field) => [field.name, inputValue(field.input, parameters[field.name])]),
  )
}

const REMOVED = Symbol('removed')

function parseInput(field: ParameterField, typed: string | boolean): unknown {
  if (typeof typed === 'boolean') return typed
  if (typed.trim() === '' && (field.input === 'number' || field.input === 'json' || field.input === 'choice'))
    return REMOVED
  switch (field.input) {
    case 'number': {
      const number = parseNumberInput(typed)
      if (number === null) throw new Error('Enter a number, such as 1200 or 12.5.')
      return number
    }
    case 'list': {
      const lines = typed.split('\n').map((line) => line.trim())
      const items = lines.filter((line) => line !== '')
      return items.length === 0 ? REMOVED : items
    }
    case 'json': {
      const error = jsonError(typed)
      if (error !== null) throw new Error(`Invalid JSON: ${error}`)
      return parseJson(typed)
    }
    default:
      return typed === '' && !field.required ? REMOVED : typed
  }
}

/** Changed parameters by name, where null removes one, and errors by field. */
export type Patch = { patch: Parameters; errors: Record<string, string> }

export function patchFromInputs(
  fields: readonly ParameterField[],
  parameters: Parameters,
  typed: TypedParameters,
): Patch {
  const patch: Parameters = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const current = typed[field.name] ?? ''
    const before = parameters[field.name]
    if (current === inputValue(field.input, before)) continue
    try {
      const value = parseInput(field, current)
      if (value === REMOVED) {
        if (before !== undefined) patch[field.name] = null
      } else if (writeJson(value) !== writeJson(before)) {
        patch[field.name] = value
      }
    } catch (error) {
      errors[field.name] = error instanceof Error ? error.message : String(error)
    }
  }
  return { patch, errors }
}

/** Applies a patch to the parameters. */
export function applyPatch(parameters: Parameters, patch: Parameters): Parameters {
  const next = { ...parameters }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name]
    else next[name] = value
  }
  return next
}

/** The patch for edited JSON, or its error. */
export function patchFromJson(
  parameters: Parameters,
  text: string,
): { patch: Parameters } | { error: string } {
  const error = jsonError(text)
  if (error !== null) return { error }
  const value = parseJson(text)
  if (!isObject(value)) return { error: 'Parameters must be an object: { "name": value }.' }
  const patch: Parameters = {}
  for (const name of new Set([...Object.keys(parameters), ...Object.keys(value)])) {
    if (!(name in value)) patch[name] = null
    else if (writeJson(value[name]) !== writeJson(parameters[name])) patch[name] = value[name]
  }
  return { patch }
}
