import { describe, expect, it } from 'vitest'
import { entryRoute } from '~/features/sign_in/entryRoutes'

const at = (address: string) => {
  const { pathname, search, hash } = new URL(address, 'https://cairn.test')
  return entryRoute({ pathname, search, hash })
}

describe('entryRoute', () => {
  it('reads an invitation from the fragment', () =>
    expect(at('/welcome#invitation=abc')).toEqual({ kind: 'welcome', token: 'abc' }))

  it('recognizes the callback of an identity provider', () =>
    expect(at('/sign-in/corp?code=c&state=s')).toEqual({
      kind: 'provider',
      provider: 'corp',
      code: 'c',
      state: 's',
      error: null,
    }))

  it.each([
    ['/sign-in/corp?error=access_denied', 'access_denied'],
    ['/sign-in/corp?error=access_denied&error_description=You+said+no', 'You said no'],
  ])('or says why not %#', (address, error) => expect(at(address)).toMatchObject({ error }))

  it.each(['/', '/runs', '/sign-in', '/sign-in/a/b'])('%s is of the app', (address) =>
    expect(at(address)).toBe(null),
  )
})
