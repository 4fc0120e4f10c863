import { useQuery } from '@tanstack/react-query'
import { session } from './queries'
import type { Role, Session } from './types'

const SIGNED_OUT: Session = {
  actor: '',
  display_name: '',
  email: '',
  roles: [],
  groups: [],
  acting_for: [],
  scopes: null,
  has_password: false,
  sign_in_options: { password: false, providers: [] },
  version: '',
  data_dir: null,
}

/** The current session. Only used on pages that require one. */
export function useSession(): Session {
  const { data } = useQuery(session())
  return data ?? SIGNED_OUT
}

export function useRoles(): readonly Role[] {
  return useSession().roles
}
