type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function defaultOf(schema: JsonObject): unknown {
  if (schema.default !== undefined) return schema.default
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined
}

/** A sample input from the defaults and examples of a schema. Undefined if there are none. */
export function sampleInput(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  const value = defaultOf(schema)
  if (value !== undefined || !isObject(schema.properties)) return value
  const parts = Object.entries(schema.properties).flatMap(([name, part]) => {
    const value = sampleInput(part)
    return value === undefined ? [] : [[name, value] as const]
  })
  return parts.length === 0 ? undefined : Object.fromEntries(parts)
}
