import createClient from 'openapi-fetch'
import { newId } from '~/lib/ids'
import { parseJson, writeJson } from '~/lib/json'
import { problemOf, unreachableProblem } from '~/lib/problems'
import type { paths } from './schema'

function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : parseJson(text)
  } catch {
    return undefined
  }
}

/** Retries once if there was no response. The idempotency key prevents the server from executing the request twice. */
async function fetchWithRetry(request: Request): Promise<Response> {
  const retry = request.clone()
  try {
    return await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
  }
  try {
    return await fetch(retry)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw unreachableProblem()
  }
}

/** Parses responses without losing digits, and throws error responses as `Problem`. */
async function sendRequest(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set('Idempotency-Key', newId())
  const response = await fetchWithRetry(request)
  const text = await response.text()
  if (!response.ok) throw problemOf(response.status, parseBody(text))
  // openapi-fetch uses json() only if the content length is known, and JSON.parse otherwise.
  const headers = new Headers({ 'Content-Length': String(Math.max(1, text.length)) })
  const readable = {
    ok: true,
    status: response.status,
    headers,
    json: async () => parseBody(text),
    text: async () => text,
  }
  return readable as Response
}

export const client = createClient<paths>({
  fetch: sendRequest,
  bodySerializer: writeJson,
  credentials: 'same-origin',
})

/** The response data. Errors were thrown before. */
export async function unwrap<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T
}

/** Sends a YAML text unchanged. */
export const asYaml = {
  headers: { 'Content-Type': 'application/yaml' },
  bodySerializer: (body: unknown) => String(body),
}
