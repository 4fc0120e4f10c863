export type ProblemError = { path: string; message: string; line?: number | null; column?: number | null }

/** An error response as described by RFC 9457. */
export class Problem extends Error {
  override readonly name = 'Problem'
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly ProblemError[] = [],
    readonly suggestions: readonly string[] = [],
  ) {
    super(detail || title)
  }
}

const DEFAULT_TEXT: Record<number, string> = {
  401: 'You are not signed in.',
  403: "Your role doesn't allow this.",
  404: 'Not found. It may have been deleted.',
  409: "This isn't possible right now.",
  410: 'This was permanently deleted.',
  412: 'Someone else changed this in the meantime.',
  413: 'The request is too large.',
  422: 'Invalid input.',
  502: "Can't reach the server.",
  503: 'The server is busy. Try again in a moment.',
}

const asText = (value: unknown) => (typeof value === 'string' ? value : '')

function asErrors(value: unknown): ProblemError[] {
  if (!Array.isArray(value)) return []
  return value
    .filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    .map((item) => ({
      path: asText(item.path),
      message: asText(item.message),
      line: typeof item.line === 'number' ? item.line : null,
      column: typeof item.column === 'number' ? item.column : null,
    }))
}

/** Reads an error response, also one from a proxy. */
export function problemOf(status: number, body: unknown): Problem {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const text =
    DEFAULT_TEXT[status] ??
    (status >= 500 ? 'Internal error. See the server log for details.' : 'The request was rejected.')
  return new Problem(
    status,
    asText(fields.title) || text,
    asText(fields.detail) || text,
    asErrors(fields.errors),
    Array.isArray(fields.suggestions) ? fields.suggestions.filter((item) => typeof item === 'string') : [],
  )
}

/** The request got no response. */
export function unreachableProblem(): Problem {
  return new Problem(
    0,
    'No response',
    'The server is not responding. It may be stopped, or the network is down.',
  )
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, 'Unexpected error', error instanceof Error ? error.message : String(error))
}

/** Whether someone else changed or decided it first. */
export function isStale(error: unknown): boolean {
  return error instanceof Problem && (error.status === 409 || error.status === 412)
}

/** Form errors by field name. */
export function errorsByField(problem: Problem, names: readonly string[]): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const error of problem.errors) {
    const steps = error.path.split(/[./[\]]+/).filter(Boolean)
    const name = names.find((candidate) => steps.includes(candidate))
    if (name !== undefined && errors[name] === undefined) errors[name] = error.message
  }
  return errors
}
