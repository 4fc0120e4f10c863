export type ProblemError = { path: string; message: string; line?: number | null; column?: number | null }

/** What the server answered when it refused, as RFC 9457 has it, with words for people. */
export class Problem extends Error {
  override readonly name = 'Problem'
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly ProblemError[] = [],
    readonly possible: readonly string[] = [],
  ) {
    super(detail || title)
  }
}

const DEFAULT_TEXT: Record<number, string> = {
  401: 'You are not signed in.',
  403: 'Your role does not allow this.',
  404: 'This does not exist, or no longer does.',
  409: 'This is not possible now.',
  410: 'This is gone for good.',
  412: 'Somebody changed this in the meantime.',
  413: 'This is too large.',
  422: 'Something in this is not right.',
  502: 'The server cannot be reached.',
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

/** Reads an answer that is not a success; also one that no server of ours wrote. */
export function problemOf(status: number, body: unknown): Problem {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const text =
    DEFAULT_TEXT[status] ?? (status >= 500 ? 'The server failed. Its log says why.' : 'This was refused.')
  return new Problem(
    status,
    asText(fields.title) || text,
    asText(fields.detail) || text,
    asErrors(fields.errors),
    Array.isArray(fields.possible) ? fields.possible.filter((item) => typeof item === 'string') : [],
  )
}

/** The request never got an answer. */
export function unreachableProblem(): Problem {
  return new Problem(0, 'No answer', 'The server does not answer. It may be stopped, or the network is gone.')
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, 'Something failed', error instanceof Error ? error.message : String(error))
}

/** Another decision or edit came first: what was shown is no longer what is. */
export function isStale(error: unknown): boolean {
  return error instanceof Problem && (error.status === 409 || error.status === 412)
}

/** Faults of a form by the name of the field they stand at. */
export function errorsByField(problem: Problem, names: readonly string[]): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const error of problem.errors) {
    const steps = error.path.split(/[./[\]]+/).filter(Boolean)
    const name = names.find((candidate) => steps.includes(candidate))
    if (name !== undefined && errors[name] === undefined) errors[name] = error.message
  }
  return errors
}
