/** What an address asks for before the app: to accept an invitation, or to come back from an identity provider. */
export type Door =
  | { kind: 'welcome'; token: string }
  | { kind: 'provider'; provider: string; code: string; state: string; refused: string | null }

type Place = Pick<Location, 'pathname' | 'search' | 'hash'>

export function doorOf({ pathname, search, hash }: Place): Door | null {
  if (pathname === '/welcome') {
    return { kind: 'welcome', token: new URLSearchParams(hash.slice(1)).get('invitation') ?? '' }
  }
  const provider = /^\/sign-in\/([^/]+)$/.exec(pathname)?.[1]
  if (provider === undefined) return null
  const given = new URLSearchParams(search)
  const error = given.get('error')
  return {
    kind: 'provider',
    provider: decodeURIComponent(provider),
    code: given.get('code') ?? '',
    state: given.get('state') ?? '',
    refused: error === null ? null : (given.get('error_description') ?? error),
  }
}
