import { type Parameters, spoken } from './actions'
import { jsonFault, parseJson, prettyValue, readNumber, showNumber, writeJson } from './json'

/** How a parameter is written in a form. */
export type Way = 'line' | 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'json'
export type ParameterField = {
  name: string
  label: string
  way: Way
  required: boolean
  hint: string
  choices: string[]
}

/** What stands in the inputs, as typed. */
export type TypedParameters = Record<string, string | boolean>

type Part = Record<string, unknown>
const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

function wayOf(schema: Part, value: unknown): Way {
  if (Array.isArray(schema.enum)) return 'choice'
  if (isTexts(value) && value.length > 0) return 'list'
  if (typeof value === 'boolean' || schema.type === 'boolean') return 'boolean'
  if (showNumber(value) !== '' || schema.type === 'number' || schema.type === 'integer') return 'number'
  if (typeof value === 'string') return value.includes('\n') || isProse(schema) ? 'text' : 'line'
  if (value !== undefined && value !== null)
    return Array.isArray(value) && value.length === 0 ? 'list' : 'json'
  if (schema.type === 'array' && isPart(schema.items) && schema.items.type === 'string') return 'list'
  if (schema.type === 'string' || Array.isArray(schema.anyOf)) return isProse(schema) ? 'text' : 'line'
  return 'json'
}

const isProse = (schema: Part) => schema.contentMediaType !== undefined

function hintOf(schema: Part): string {
  const parts = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.exclusiveMinimum !== undefined && `over ${schema.exclusiveMinimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.exclusiveMaximum !== undefined && `below ${schema.exclusiveMaximum}`,
  ].filter((part): part is string => typeof part === 'string')
  const limits = parts.length === 0 ? '' : `Must be ${parts.join(' and ')}.`
  return [typeof schema.description === 'string' ? schema.description : '', limits].filter(Boolean).join(' ')
}

/** The fields of an action: those that its schema names, then those that it has besides. */
export function parameterFields(schema: unknown, parameters: Parameters): ParameterField[] {
  const properties = isPart(schema) && isPart(schema.properties) ? schema.properties : {}
  const required = isPart(schema) && isTexts(schema.required) ? schema.required : []
  const names = [...new Set([...Object.keys(properties), ...Object.keys(parameters)])]
  return names.map((name) => {
    const part = isPart(properties[name]) ? properties[name] : {}
    const way = wayOf(part, parameters[name])
    return {
      name,
      label: typeof part.title === 'string' ? part.title : spoken(name),
      way,
      required: required.includes(name),
      hint: [hintOf(part), way === 'list' ? 'One per line.' : way === 'json' ? 'As JSON.' : '']
        .filter(Boolean)
        .join(' '),
      choices: Array.isArray(part.enum) ? part.enum.map(String) : [],
    }
  })
}

/** What a field opens with. */
function shown(way: Way, value: unknown): string | boolean {
  switch (way) {
    case 'boolean':
      return value === true
    case 'number':
      return showNumber(value)
    case 'list':
      return isTexts(value) ? value.join('\n') : ''
    case 'json':
      return value === undefined ? '' : prettyValue(value)
    case 'line':
    case 'text':
    case 'choice':
      return value === undefined || value === null ? '' : String(value)
  }
}

export function openParameters(fields: readonly ParameterField[], parameters: Parameters): TypedParameters {
  return Object.fromEntries(fields.map((field) => [field.name, shown(field.way, parameters[field.name])]))
}

const GONE = Symbol('taken away')

function read(field: ParameterField, typed: string | boolean): unknown {
  if (typeof typed === 'boolean') return typed
  if (typed.trim() === '' && (field.way === 'number' || field.way === 'json' || field.way === 'choice'))
    return GONE
  switch (field.way) {
    case 'number': {
      const number = readNumber(typed)
      if (number === null) throw new Error('This is not a number. Write it like 1200 or 12.5.')
      return number
    }
    case 'list': {
      const lines = typed.split('\n').map((line) => line.trim())
      const items = lines.filter((line) => line !== '')
      return items.length === 0 ? GONE : items
    }
    case 'json': {
      const fault = jsonFault(typed)
      if (fault !== null) throw new Error(`This is not JSON. ${fault}`)
      return parseJson(typed)
    }
    default:
      return typed === '' && !field.required ? GONE : typed
  }
}

/** What is changed, by name; null takes a parameter away. Faults by field are what cannot be read. */
export type Patch = { patch: Parameters; faults: Record<string, string> }

export function patchOf(
  fields: readonly ParameterField[],
  parameters: Parameters,
  typed: TypedParameters,
): Patch {
  const patch: Parameters = {}
  const faults: Record<string, string> = {}
  for (const field of fields) {
    const now = typed[field.name] ?? ''
    const before = parameters[field.name]
    if (now === shown(field.way, before)) continue
    try {
      const value = read(field, now)
      if (value === GONE) {
        if (before !== undefined) patch[field.name] = null
      } else if (writeJson(value) !== writeJson(before)) {
        patch[field.name] = value
      }
    } catch (fault) {
      faults[field.name] = fault instanceof Error ? fault.message : String(fault)
    }
  }
  return { patch, faults }
}

/** The parameters with a patch in them. */
export function patched(parameters: Parameters, patch: Parameters): Parameters {
  const next = { ...parameters }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name]
    else next[name] = value
  }
  return next
}

/** What a text of all parameters changes, or why it cannot be read. */
export function patchOfText(parameters: Parameters, text: string): { patch: Parameters } | { fault: string } {
  const fault = jsonFault(text)
  if (fault !== null) return { fault }
  const value = parseJson(text)
  if (!isPart(value)) return { fault: 'Parameters are an object: { "name": value }.' }
  const patch: Parameters = {}
  for (const name of new Set([...Object.keys(parameters), ...Object.keys(value)])) {
    if (!(name in value)) patch[name] = null
    else if (writeJson(value[name]) !== writeJson(parameters[name])) patch[name] = value[name]
  }
  return { patch }
}
