import { type MantineColorScheme, Menu, UnstyledButton } from '@mantine/core'
import {
  IconCheck,
  IconDeviceDesktop,
  IconDots,
  IconHeartbeat,
  IconKeyboard,
  IconListDetails,
  IconLogout,
  IconMoon,
  IconScale,
  IconSettings,
  IconSun,
} from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRoles } from '~/api/session'
import { signOut } from '~/api/signIn'
import styles from './Shell.module.css'

const SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'Match system', icon: IconDeviceDesktop },
] as const

type Props = {
  actor: string
  initials: string
  scheme: MantineColorScheme
  onScheme: (scheme: MantineColorScheme) => void
  onHelp: () => void
}

/** The account menu: colour scheme, keyboard shortcuts, sign-out. */
export function AccountMenu({ actor, initials, scheme, onScheme, onHelp }: Props) {
  const client = useQueryClient()
  const isAdmin = useRoles().includes('admin')
  const { mutate: endOwnSession } = useMutation({
    mutationFn: signOut,
    onSettled: () => {
      client.clear()
      location.assign('/')
    },
  })
  return (
    <div>
      <Menu position="top-start" width={220}>
        <Menu.Target>
          <UnstyledButton className={styles.link}>
            <span className={styles.initials} aria-hidden="true">
              {initials}
            </span>
            <IconDots className={styles.more} size={18} aria-hidden="true" />
            <span className={styles.label} data-actor>
              {actor}
            </span>
            <span className={styles.menuShortLabel}>More</span>
            <span className="unseen">, your account</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label className={styles.menuLabel}>Signed in as {actor}</Menu.Label>
          <Menu.Item
            className={styles.phoneOnly}
            leftSection={<IconListDetails size={16} />}
            renderRoot={(props) => <Link to="/events" {...props} />}
          >
            Events
          </Menu.Item>
          <Menu.Item
            className={styles.phoneOnly}
            leftSection={<IconScale size={16} />}
            renderRoot={(props) => <Link to="/rules" {...props} />}
          >
            Rules
          </Menu.Item>
          <Menu.Item
            className={styles.phoneOnly}
            leftSection={<IconSettings size={16} />}
            renderRoot={(props) => <Link to="/settings" {...props} />}
          >
            Settings
          </Menu.Item>
          {isAdmin && (
            <Menu.Item
              leftSection={<IconHeartbeat size={16} />}
              renderRoot={(props) => <Link to="/health" {...props} />}
            >
              Health
            </Menu.Item>
          )}
          {SCHEMES.map(({ value, label, icon: Icon }) => (
            <Menu.Item
              key={value}
              leftSection={<Icon size={16} />}
              rightSection={scheme === value ? <IconCheck size={14} aria-label="selected" /> : undefined}
              onClick={() => onScheme(value)}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={onHelp}>
            Keyboard shortcuts
          </Menu.Item>
          <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => endOwnSession()}>
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}
