import type { Role, TokenScope, User } from '~/api/types'

/** The roles and what they allow. */
export const ROLES: readonly { value: Role; label: string; description: string }[] = [
  { value: 'viewer', label: 'Viewer', description: 'View everything except admin pages.' },
  {
    value: 'editor',
    label: 'Editor',
    description: 'View everything, define pipelines, start and control runs, submit forms.',
  },
  {
    value: 'approver',
    label: 'Approver',
    description: 'View everything, submit forms, decide approvals, comment.',
  },
  {
    value: 'admin',
    label: 'Admin',
    description: 'Full access, including users, tokens, secrets, rules and deletion.',
  },
]

export const SCOPES: readonly { value: TokenScope; label: string; description: string }[] = [
  { value: 'read', label: 'Read', description: 'View everything. Included in every token.' },
  { value: 'run', label: 'Run', description: 'Start and control runs, submit forms.' },
  { value: 'decide', label: 'Decide', description: 'Decide approvals.' },
  { value: 'define', label: 'Define', description: 'Edit definitions and scripts.' },
  { value: 'admin', label: 'Admin', description: 'Use admin functions and account settings.' },
]

const SCOPE_ROLES: Partial<Record<TokenScope, readonly Role[]>> = {
  run: ['editor', 'approver', 'admin'],
  decide: ['editor', 'approver', 'admin'],
  define: ['editor', 'admin'],
}

/** The scopes that are useful for a user with these roles. */
export function scopesForRoles(roles: readonly Role[]): typeof SCOPES {
  return SCOPES.filter(({ value }) => SCOPE_ROLES[value]?.some((role) => roles.includes(role)) ?? true)
}

export function roleLabels(roles: readonly Role[]): string {
  const labels = ROLES.filter((role) => roles.includes(role.value)).map((role) => role.label)
  return labels.length === 0 ? "No role: can't sign in" : labels.join(', ')
}

export function scopeLabels(scopes: readonly TokenScope[] | null): string {
  if (scopes === null) return 'All scopes of the user'
  return SCOPES.filter((scope) => scope.value === 'read' || scopes.includes(scope.value))
    .map((scope) => scope.label)
    .join(', ')
}

/** The sign-in methods of a user. */
export function signInLabel(
  user: Pick<User, 'has_password' | 'providers' | 'is_invited' | 'deleted_at'>,
): string {
  if (user.deleted_at !== null) return 'deleted'
  const methods = [user.has_password && 'password', ...user.providers].filter(Boolean)
  if (user.is_invited) return methods.length === 0 ? 'invited' : `${methods.join(', ')}; invited again`
  return methods.length === 0 ? 'tokens only' : methods.join(', ')
}

/** The display name and the username. */
export function personLabel(person: { name: string; display_name: string }): string {
  return person.display_name === '' || person.display_name === person.name
    ? person.name
    : `${person.display_name} (${person.name})`
}
