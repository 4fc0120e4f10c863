export type Parameters = Record<string, unknown>

const NAMED = /\{\{ *([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*) *\}\}/g

const isParts = (value: unknown): value is Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text with each `{{ name }}` replaced as it will be when it is carried out; unknown names stay. */
export function fillIn(text: string, parameters: Parameters): string {
  return text.replace(NAMED, (whole, name: string) => {
    let value: unknown = parameters
    for (const part of name.split('.')) {
      if (!isParts(value) || !(part in value)) return whole
      value = value[part]
    }
    return value === null ? '' : String(value)
  })
}

/** Whether a text names other parameters. */
export const namesParameters = (text: unknown) => typeof text === 'string' && text.search(NAMED) >= 0

/** One address or several, as one line. */
export function line(value: unknown): string {
  if (Array.isArray(value)) return value.map(line).join(', ')
  if (value === null || value === undefined) return ''
  return isParts(value) ? JSON.stringify(value) : String(value)
}

/** send_email → Send email. */
export function spoken(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is done, in short. */
export function operationWord(operation: string): string {
  return OPERATIONS[operation] ?? spoken(operation)
}

const OPERATIONS: Record<string, string> = {
  send_email: 'Send an email',
  http_request: 'Call an API',
  financial_transaction: 'Move money',
  database_update: 'Change data',
}

/** What the button does. */
export function approveLabel(operation: string | null): string {
  if (operation === 'send_email') return 'Approve and send'
  return operation === 'http_request' ? 'Approve and call' : 'Approve'
}

/** What came of an action that was approved, in words; null while it is not. */
export function outcomeWords(
  action: { outcome: string; operation_type: string; result: unknown },
  isCarriedOut: boolean,
): { tone: 'green' | 'red' | 'ochre' | 'blue' | 'grey'; title: string; detail: string } | null {
  const result = isParts(action.result) ? action.result : {}
  const error = line(result.error)
  switch (action.outcome) {
    case 'done':
      if (result.confirmed_by !== undefined) {
        const by = line(result.confirmed_by)
        return { tone: 'green', title: 'Carried out.', detail: `${by} has looked outside and confirmed it.` }
      }
      return action.operation_type === 'send_email'
        ? { tone: 'green', title: `Sent to ${line(result.to)}.`, detail: line(result.server) }
        : { tone: 'green', title: 'Carried out.', detail: answered(result.status) }
    case 'failed':
      return { tone: 'red', title: 'Approved, but it could not be carried out.', detail: error }
    case 'unknown':
      return { tone: 'ochre', title: 'Nobody knows whether it was carried out.', detail: error }
    case 'returned':
      return { tone: 'green', title: 'The approved parameters went back to whoever proposed it.', detail: '' }
    case 'test':
      return { tone: 'grey', title: 'Not carried out: this was a test run.', detail: '' }
    default:
      return isCarriedOut ? { tone: 'blue', title: 'It is being carried out.', detail: '' } : null
  }
}

const answered = (status: unknown) => (status === undefined ? '' : `The answer was ${line(status)}.`)
