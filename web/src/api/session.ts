import { useQuery } from '@tanstack/react-query'
import { session } from './queries'
import type { Role, Session } from './types'

/** Who is signed in; only pages behind the sign-in ask. */
export function useSession(): Session {
  const { data } = useQuery(session())
  return data ?? { actor: '', roles: [], version: '', data_dir: null }
}

export function useRoles(): readonly Role[] {
  return useSession().roles
}
