import type { ActionState } from '~/api/types'

export type Parameters = Record<string, unknown>

const PLACEHOLDER = /\{\{ *([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*) *\}\}/g

const isRecord = (value: unknown): value is Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces `{{ name }}` placeholders with parameter values. Unknown names stay. */
export function fillPlaceholders(text: string, parameters: Parameters): string {
  return text.replace(PLACEHOLDER, (match, name: string) => {
    let value: unknown = parameters
    for (const key of name.split('.')) {
      if (!isRecord(value) || !(key in value)) return match
      value = value[key]
    }
    return value === null ? '' : String(value)
  })
}

/** Whether a text contains placeholders. */
export const hasPlaceholders = (text: unknown) => typeof text === 'string' && text.search(PLACEHOLDER) >= 0

/** A value or a list of values as one line. */
export function toLine(value: unknown): string {
  if (Array.isArray(value)) return value.map(toLine).join(', ')
  if (value === null || value === undefined) return ''
  return isRecord(value) ? JSON.stringify(value) : String(value)
}

/** send_email → Send email. */
export function humanize(name: string): string {
  const text = name.replace(/[_-]+/g, ' ').trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A short label for an operation. */
export function operationLabel(operation: string): string {
  return OPERATIONS[operation] ?? humanize(operation)
}

const OPERATIONS: Record<string, string> = {
  send_email: 'Send email',
  http_request: 'Call API',
  financial_transaction: 'Financial transaction',
  database_update: 'Update data',
}

/** The label of the approve button. */
export function approveLabel(operation: string | null): string {
  if (operation === 'send_email') return 'Approve and send'
  return operation === 'http_request' ? 'Approve and call' : 'Approve'
}

/** The outcome of an approved action in words. Null if there is none yet. */
export function outcomeText(action: {
  state: ActionState
  operation_type: string
  state_reason: string
  result: unknown
}): { tone: 'green' | 'red' | 'ochre' | 'blue' | 'grey'; title: string; detail: string } | null {
  const result = isRecord(action.result) ? action.result : {}
  const error = toLine(result.error)
  switch (action.state) {
    case 'done':
      if (result.confirmed_by !== undefined) {
        const by = toLine(result.confirmed_by)
        return { tone: 'green', title: 'Executed.', detail: `${by} confirmed the result manually.` }
      }
      return action.operation_type === 'send_email'
        ? { tone: 'green', title: `Sent to ${toLine(result.to)}.`, detail: toLine(result.server) }
        : { tone: 'green', title: 'Executed.', detail: responseText(result.status) }
    case 'failed':
      return {
        tone: 'red',
        title: 'Approved, but the execution failed.',
        detail: error || action.state_reason,
      }
    case 'unknown':
      return {
        tone: 'ochre',
        title: 'It is unknown whether the action was executed.',
        detail: error || action.state_reason,
      }
    case 'reused':
      return { tone: 'grey', title: 'Not executed: the earlier result is used.', detail: '' }
    case 'handed_over':
      return { tone: 'green', title: 'The approved parameters were returned to the proposer.', detail: '' }
    case 'test':
      return { tone: 'grey', title: 'Not executed: this was a test run.', detail: '' }
    case 'started':
      return { tone: 'blue', title: 'Executing.', detail: '' }
    case 'approved':
      return { tone: 'blue', title: 'Approved, but not started yet.', detail: action.state_reason }
    case 'withdrawn':
      return { tone: 'grey', title: 'Not executed: the action was withdrawn.', detail: action.state_reason }
    default:
      return null
  }
}

const responseText = (status: unknown) => (status === undefined ? '' : `Response: ${toLine(status)}.`)
