/** Addresses that work without a session: accepting an invitation and returning from an identity provider. */
export type EntryRoute =
  | { kind: 'welcome'; token: string }
  | { kind: 'provider'; provider: string; code: string; state: string; error: string | null }

type LocationParts = Pick<Location, 'pathname' | 'search' | 'hash'>

export function entryRoute({ pathname, search, hash }: LocationParts): EntryRoute | null {
  if (pathname === '/welcome') {
    return { kind: 'welcome', token: new URLSearchParams(hash.slice(1)).get('invitation') ?? '' }
  }
  const provider = /^\/sign-in\/([^/]+)$/.exec(pathname)?.[1]
  if (provider === undefined) return null
  const query = new URLSearchParams(search)
  const error = query.get('error')
  return {
    kind: 'provider',
    provider: decodeURIComponent(provider),
    code: query.get('code') ?? '',
    state: query.get('state') ?? '',
    error: error === null ? null : (query.get('error_description') ?? error),
  }
}
