import { newId } from '~/lib/ids'
import { parseJson, writeJson } from '~/lib/lossless'
import { problemOf, unreachable } from '~/lib/problems'

type Query = Record<string, string | number | boolean | null | undefined>
type Call = {
  query?: Query
  body?: unknown
  /** A body that is sent as it is. */
  raw?: { text: string; type: string } | FormData
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Builds `/api/…?a=b`, leaving out what is not given. */
export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length === 0 ? `/api${path}` : `/api${path}?${search}`
}

function bodyOf(call: Call): { body?: BodyInit; type?: string } {
  if (call.raw instanceof FormData) return { body: call.raw }
  if (call.raw !== undefined) return { body: call.raw.text, type: call.raw.type }
  return call.body === undefined ? {} : { body: writeJson(call.body), type: 'application/json' }
}

async function answerOf(method: string, path: string, call: Call): Promise<Response> {
  const { body, type } = bodyOf(call)
  const headers: Record<string, string> = { Accept: 'application/json', ...call.headers }
  if (type !== undefined) headers['Content-Type'] = type
  if (method !== 'GET') headers['Idempotency-Key'] ??= newId()
  const send = () =>
    fetch(address(path, call.query), {
      method,
      headers,
      body,
      signal: call.signal,
      credentials: 'same-origin',
    })
  try {
    return await send()
  } catch (error) {
    if (call.signal?.aborted) throw error
  }
  // The key makes it safe to ask once more: an answer that was lost is given again.
  try {
    return await send()
  } catch {
    throw unreachable()
  }
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

async function request(method: string, path: string, call: Call = {}): Promise<Response> {
  const response = await answerOf(method, path, call)
  if (!response.ok) throw problemOf(response.status, await readBody(response))
  return response
}

/** Asks and reads JSON without losing digits. */
export async function json<T>(method: string, path: string, call: Call = {}): Promise<T> {
  return (await readBody(await request(method, path, call))) as T
}

/** Asks and gives the answer's text as it came. */
export async function text(path: string, call: Call = {}): Promise<string> {
  return (await request('GET', path, { ...call, headers: { Accept: '*/*', ...call.headers } })).text()
}
