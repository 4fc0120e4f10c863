type Part = Record<string, unknown>

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function given(schema: Part): unknown {
  if (schema.default !== undefined) return schema.default
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined
}

/** An input to begin with, from the defaults and examples that a schema names; undefined when it names none. */
export function sampleInput(schema: unknown): unknown {
  if (!isPart(schema)) return undefined
  const whole = given(schema)
  if (whole !== undefined || !isPart(schema.properties)) return whole
  const parts = Object.entries(schema.properties).flatMap(([name, part]) => {
    const value = sampleInput(part)
    return value === undefined ? [] : [[name, value] as const]
  })
  return parts.length === 0 ? undefined : Object.fromEntries(parts)
}
