import { ActionIcon, Menu } from '@mantine/core'
import { IconDots, IconLink, IconLogout, IconPencil, IconUserCheck, IconUserX } from '@tabler/icons-react'
import type { User } from '~/api/types'

export type UserAction = { kind: 'change' | 'invite' | 'sign out' | 'delete' | 'restore'; user: User }

/** The actions for one user. */
export function UserMenu({ user, onAction }: { user: User; onAction: (action: UserAction) => void }) {
  const item = (kind: UserAction['kind']) => ({ onClick: () => onAction({ kind, user }) })
  return (
    <Menu width={230}>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={`More actions for ${user.name}`}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {user.deleted_at !== null ? (
          <Menu.Item leftSection={<IconUserCheck size={16} />} {...item('restore')}>
            Restore…
          </Menu.Item>
        ) : (
          <>
            <Menu.Item leftSection={<IconPencil size={16} />} {...item('change')}>
              Edit…
            </Menu.Item>
            <Menu.Item leftSection={<IconLink size={16} />} {...item('invite')}>
              {user.has_password ? 'Create password link…' : 'Create new invitation…'}
            </Menu.Item>
            <Menu.Item leftSection={<IconLogout size={16} />} {...item('sign out')}>
              Sign out everywhere…
            </Menu.Item>
            <Menu.Item leftSection={<IconUserX size={16} />} data-danger {...item('delete')}>
              Delete…
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
