import { describe, expect, it } from 'vitest'
import { personLabel, roleLabels, scopeLabels, scopesForRoles, signInLabel } from '~/lib/identity'
import { browserLabel } from '~/lib/userAgents'

const user = { has_password: false, providers: [], is_invited: false, deleted_at: null }

describe('identity labels', () => {
  it.each([
    [user, 'tokens only'],
    [{ ...user, is_invited: true }, 'invited'],
    [{ ...user, has_password: true, providers: ['corp'] }, 'password, corp'],
    [{ ...user, has_password: true, is_invited: true }, 'password; invited again'],
    [{ ...user, has_password: true, deleted_at: '2026-03-02T09:30:00Z' }, 'deleted'],
  ])('how somebody gets in %#', (given, words) => expect(signInLabel(given)).toBe(words))

  it('lists roles and scopes in order', () => {
    expect(roleLabels(['admin', 'editor'])).toBe('Editor, Admin')
    expect(roleLabels([])).toBe("No role: can't sign in")
    expect(scopeLabels(null)).toBe('All scopes of the user')
    expect(scopeLabels(['decide', 'run'])).toBe('Read, Run, Decide')
    expect(scopeLabels([])).toBe('Read')
  })

  it('offers scopes by role', () => {
    const of = (...roles: Parameters<typeof scopesForRoles>[0]) =>
      scopesForRoles(roles).map(({ value }) => value)
    expect(of('viewer')).toEqual(['read', 'admin'])
    expect(of('approver')).toEqual(['read', 'run', 'decide', 'admin'])
    expect(of('editor')).toEqual(['read', 'run', 'decide', 'define', 'admin'])
    expect(of('viewer', 'admin')).toEqual(of('editor'))
  })

  it('shows the display name and the username', () => {
    expect(personLabel({ name: 'reviewer', display_name: '' })).toBe('reviewer')
    expect(personLabel({ name: 'reviewer', display_name: 'A reviewer' })).toBe('A reviewer (reviewer)')
  })

  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    ['curl/8.9.1', 'curl/8.9.1'],
    ['', 'Unknown'],
  ])('a browser %#', (agent, words) => expect(browserLabel(agent)).toBe(words))
})
