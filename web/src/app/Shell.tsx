import { useMantineColorScheme } from '@mantine/core'
import { IconSettings } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { pendingApprovals } from '~/api/approvals'
import { useLiveLists } from '~/api/live'
import { useSession } from '~/api/session'
import { EmergencyStopBanner } from '~/features/rules/EmergencyStop'
import { initials } from '~/lib/formatting'
import { useShortcuts } from '~/lib/shortcuts'
import { Logo } from '~/ui/Logo'
import { showConnectionState } from '~/ui/toasts'
import { AccountMenu } from './AccountMenu'
import { NAV } from './navigation'
import styles from './Shell.module.css'
import { ShortcutsDialog } from './ShortcutsDialog'
import { useHeadingFocus } from './useHeadingFocus'

/** The frame of every page: a side bar on wide screens, a tab bar on a phone. */
export function Shell() {
  useLiveLists(showConnectionState)
  useHeadingFocus()
  const { data } = useQuery(pendingApprovals())
  const waiting = data?.items.length ?? 0
  const plus = data?.next_cursor ? '+' : ''
  const { actor } = useSession()
  const [isHelpOpen, setHelpOpen] = useState(false)
  useNavigationShortcuts(() => setHelpOpen(true))
  const { setColorScheme, colorScheme } = useMantineColorScheme()

  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <nav className={styles.side} aria-label="Main">
        <Link to="/" className={styles.brand} aria-label="Cairn, home">
          <Logo />
          <span className={styles.brandName}>Cairn</span>
        </Link>
        <ul className={styles.links}>
          {NAV.map(({ to, label, icon: Icon, phone }) => (
            <li key={to} data-phone={phone || undefined}>
              <Link
                to={to}
                className={styles.link}
                activeOptions={{ exact: to === '/', includeSearch: false }}
              >
                <Icon size={18} stroke={1.6} aria-hidden="true" />
                <span className={styles.label}>{label}</span>
                {to === '/approvals' && waiting > 0 && (
                  <span className={styles.count}>
                    {waiting}
                    {plus}
                    <span className="unseen"> waiting</span>
                  </span>
                )}
              </Link>
            </li>
          ))}
        </ul>
        <Link to="/settings" className={`${styles.link} ${styles.settings}`}>
          <IconSettings size={18} stroke={1.6} aria-hidden="true" />
          <span className={styles.label}>Settings</span>
        </Link>
        <AccountMenu
          initials={initials(actor)}
          actor={actor}
          scheme={colorScheme}
          onScheme={setColorScheme}
          onHelp={() => setHelpOpen(true)}
        />
      </nav>
      <div className={styles.body}>
        <EmergencyStopBanner />
        <main id="main" tabIndex={-1} className={styles.main}>
          <Outlet />
        </main>
      </div>
      <ShortcutsDialog opened={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  )
}

/** `G` followed by the key of a page opens it. `?` shows all shortcuts. */
function useNavigationShortcuts(onHelp: () => void): void {
  const navigate = useNavigate()
  const onHelpRef = useRef(onHelp)
  onHelpRef.current = onHelp
  const keys = useMemo(
    () => ({
      '?': () => onHelpRef.current(),
      ...Object.fromEntries(NAV.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })])),
    }),
    [navigate],
  )
  useShortcuts(keys)
}
