import createClient from 'openapi-fetch'
import { newId } from '~/lib/ids'
import { parseJson, writeJson } from '~/lib/json'
import { problemOf, unreachable } from '~/lib/problems'
import type { paths } from './schema'

function read(text: string): unknown {
  try {
    return text === '' ? undefined : parseJson(text)
  } catch {
    return undefined
  }
}

/** Asks once more when no answer came: the key makes the server give a lost answer again instead of doing it twice. */
async function reach(request: Request): Promise<Response> {
  const again = request.clone()
  try {
    return await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
  }
  try {
    return await fetch(again)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw unreachable()
  }
}

/** Reads every answer without losing digits, and throws every refusal as a Problem. */
async function ask(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set('Idempotency-Key', newId())
  const response = await reach(request)
  const text = await response.text()
  if (!response.ok) throw problemOf(response.status, read(text))
  // openapi-fetch reads a body whose length it knows through json(), and any other with JSON.parse.
  const headers = new Headers({ 'Content-Length': String(Math.max(1, text.length)) })
  const readable = {
    ok: true,
    status: response.status,
    headers,
    json: async () => read(text),
    text: async () => text,
  }
  return readable as Response
}

export const client = createClient<paths>({
  fetch: ask,
  bodySerializer: writeJson,
  credentials: 'same-origin',
})

/** The answer itself; refusals were thrown before. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T
}

/** Sends a definition as it was written. */
export const asYaml = {
  headers: { 'Content-Type': 'application/yaml' },
  bodySerializer: (body: unknown) => String(body),
}
