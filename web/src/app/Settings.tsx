import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useRoles } from '~/api/session'
import styles from './Settings.module.css'

const ACCOUNT_LINKS = [
  { to: '/settings', label: 'Your account' },
  { to: '/settings/notifications', label: 'Notifications' },
] as const
const ADMIN_LINKS = [
  { to: '/settings/users', label: 'Users' },
  { to: '/settings/groups', label: 'Groups' },
  { to: '/settings/tokens', label: 'Tokens' },
  { to: '/settings/secrets', label: 'Secrets' },
  { to: '/settings/action-types', label: 'Action types' },
  { to: '/settings/tools', label: 'Tools' },
  { to: '/settings/channels', label: 'Channels' },
  { to: '/settings/deliveries', label: 'Deliveries' },
  { to: '/health', label: 'Health' },
] as const

/** Account settings, and system settings for admins. */
export function Settings() {
  const isAdmin = useRoles().includes('admin')
  const navRef = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  // On a phone the navigation is wider than the window. Scroll to the current link.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path changes the current link.
  useEffect(() => {
    navRef.current
      ?.querySelector('[data-status="active"]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [path])
  return (
    <div className={styles.settings}>
      <nav ref={navRef} className={styles.nav} aria-label="Settings">
        <ul>
          {[...ACCOUNT_LINKS, ...(isAdmin ? ADMIN_LINKS : [])].map(({ to, label }) => (
            <li key={to}>
              <Link to={to} className={styles.link} activeOptions={{ exact: true, includeSearch: false }}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.page}>
        <Outlet />
      </div>
    </div>
  )
}
