import type { Role, TokenScope, User } from '~/api/types'

/** What each role may, in one line. */
export const ROLES: readonly { value: Role; label: string; about: string }[] = [
  { value: 'viewer', label: 'Viewer', about: 'Looks at everything but what only admins see.' },
  {
    value: 'editor',
    label: 'Editor',
    about: 'Also defines pipelines, starts and steers runs, fills in forms.',
  },
  { value: 'approver', label: 'Approver', about: 'Looks, fills in forms, decides, comments.' },
  { value: 'admin', label: 'Admin', about: 'Everything; alone users, tokens, secrets, rules and deleting.' },
]

export const SCOPES: readonly { value: TokenScope; label: string; about: string }[] = [
  { value: 'read', label: 'Read', about: 'Looking; every token may.' },
  { value: 'run', label: 'Run', about: 'Starting and steering runs, filling in forms.' },
  { value: 'decide', label: 'Decide', about: 'Answering approvals.' },
  { value: 'define', label: 'Define', about: 'Writing definitions and scripts.' },
  { value: 'admin', label: 'Admin', about: 'What only admins may, and the account itself.' },
]

const USABLE: Partial<Record<TokenScope, readonly Role[]>> = {
  run: ['editor', 'approver', 'admin'],
  decide: ['editor', 'approver', 'admin'],
  define: ['editor', 'admin'],
}

/** What a token of somebody with these roles can be used for. */
export function scopesFor(roles: readonly Role[]): typeof SCOPES {
  return SCOPES.filter(({ value }) => USABLE[value]?.some((role) => roles.includes(role)) ?? true)
}

export function roleWords(roles: readonly Role[]): string {
  const words = ROLES.filter((role) => roles.includes(role.value)).map((role) => role.label)
  return words.length === 0 ? 'No role: cannot get in' : words.join(', ')
}

export function scopeWords(scopes: readonly TokenScope[] | null): string {
  if (scopes === null) return 'All that the user may'
  return SCOPES.filter((scope) => scope.value === 'read' || scopes.includes(scope.value))
    .map((scope) => scope.label)
    .join(', ')
}

/** How somebody gets in. */
export function entryWords(
  user: Pick<User, 'has_password' | 'providers' | 'is_invited' | 'removed_at'>,
): string {
  if (user.removed_at !== null) return 'removed'
  const ways = [user.has_password && 'password', ...user.providers].filter(Boolean)
  if (user.is_invited) return ways.length === 0 ? 'invited' : `${ways.join(', ')}; invited anew`
  return ways.length === 0 ? 'tokens only' : ways.join(', ')
}

/** A name, with what people see of it where there is more. */
export function nameWords(person: { name: string; display_name: string }): string {
  return person.display_name === '' || person.display_name === person.name
    ? person.name
    : `${person.display_name} (${person.name})`
}
