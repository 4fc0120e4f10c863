import type { Role, TokenScope, User } from '~/api/types'

/** What each role may, in one line. */
export const ROLES: readonly { value: Role; label: string; description: string }[] = [
  { value: 'viewer', label: 'Viewer', description: 'Looks at everything but what only admins see.' },
  {
    value: 'editor',
    label: 'Editor',
    description: 'Also defines pipelines, starts and steers runs, fills in forms.',
  },
  { value: 'approver', label: 'Approver', description: 'Looks, fills in forms, decides, comments.' },
  {
    value: 'admin',
    label: 'Admin',
    description: 'Everything; alone users, tokens, secrets, rules and deleting.',
  },
]

export const SCOPES: readonly { value: TokenScope; label: string; description: string }[] = [
  { value: 'read', label: 'Read', description: 'Looking; every token may.' },
  { value: 'run', label: 'Run', description: 'Starting and steering runs, filling in forms.' },
  { value: 'decide', label: 'Decide', description: 'Answering approvals.' },
  { value: 'define', label: 'Define', description: 'Writing definitions and scripts.' },
  { value: 'admin', label: 'Admin', description: 'What only admins may, and the account itself.' },
]

const SCOPE_ROLES: Partial<Record<TokenScope, readonly Role[]>> = {
  run: ['editor', 'approver', 'admin'],
  decide: ['editor', 'approver', 'admin'],
  define: ['editor', 'admin'],
}

/** What a token of somebody with these roles can be used for. */
export function scopesForRoles(roles: readonly Role[]): typeof SCOPES {
  return SCOPES.filter(({ value }) => SCOPE_ROLES[value]?.some((role) => roles.includes(role)) ?? true)
}

export function roleLabels(roles: readonly Role[]): string {
  const labels = ROLES.filter((role) => roles.includes(role.value)).map((role) => role.label)
  return labels.length === 0 ? 'No role: cannot get in' : labels.join(', ')
}

export function scopeLabels(scopes: readonly TokenScope[] | null): string {
  if (scopes === null) return 'All that the user may'
  return SCOPES.filter((scope) => scope.value === 'read' || scopes.includes(scope.value))
    .map((scope) => scope.label)
    .join(', ')
}

/** How somebody gets in. */
export function signInLabel(
  user: Pick<User, 'has_password' | 'providers' | 'is_invited' | 'removed_at'>,
): string {
  if (user.removed_at !== null) return 'removed'
  const methods = [user.has_password && 'password', ...user.providers].filter(Boolean)
  if (user.is_invited) return methods.length === 0 ? 'invited' : `${methods.join(', ')}; invited anew`
  return methods.length === 0 ? 'tokens only' : methods.join(', ')
}

/** A name, with what people see of it where there is more. */
export function personLabel(person: { name: string; display_name: string }): string {
  return person.display_name === '' || person.display_name === person.name
    ? person.name
    : `${person.display_name} (${person.name})`
}
