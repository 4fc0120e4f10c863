import { Button, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { users } from '~/api/identity'
import type { User } from '~/api/types'
import { pluralizeAtLeast } from '~/lib/formatting'
import { roleLabels, signInLabel } from '~/lib/identity'
import { AdminPage } from '~/ui/AdminPage'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { OneTimeValueDialog } from '~/ui/OneTimeValueDialog'
import { LoadError } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { EditUserDialog } from './EditUserDialog'
import styles from './Identity.module.css'
import { Invitations } from './Invitations'
import { InviteDialog } from './InviteDialog'
import { UserActionDialogs } from './UserActionDialogs'
import { type UserAction, UserMenu } from './UserMenu'

/** All users with their roles, groups and sign-in methods. */
export function UsersPage() {
  const [inviting, setInviting] = useState(false)
  const [link, setLink] = useState<string | null>(null)
  return (
    <AdminPage
      title="Users"
      actions={
        <Button variant="filled" leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
          Invite user…
        </Button>
      }
    >
      <Users onLink={setLink} />
      <InviteDialog
        opened={inviting}
        onClose={() => setInviting(false)}
        onInvited={(path) => {
          setInviting(false)
          setLink(location.origin + path)
        }}
      />
      <OneTimeValueDialog title="Invitation created" label="Link" value={link} onClose={() => setLink(null)}>
        Send this link only to the person it is for. Whoever opens it first sets the password.
      </OneTimeValueDialog>
    </AdminPage>
  )
}

function Users({ onLink }: { onLink: (link: string) => void }) {
  const [deleted, setDeleted] = useState(false)
  const [search, setSearch] = useState('')
  const [action, setAction] = useState<UserAction | null>(null)
  const [query] = useDebouncedValue(search.trim(), SEARCH_DELAY)
  const pages = useInfiniteQuery({ ...users(deleted, query), placeholderData: keepPreviousData })
  if (pages.error !== null)
    return <LoadError title="Couldn't load users." error={pages.error} retry={() => void pages.refetch()} />
  if (pages.data === undefined) return <LoadingRows rows={4} label="Loading users" />
  const shown = pages.data.pages.flatMap((page) => page.items)
  const activeCount = shown.filter((user) => user.deleted_at === null).length
  return (
    <div className={styles.sections}>
      <h1>
        {pluralizeAtLeast(activeCount, pages.hasNextPage, 'user')}
        {query !== '' && ' found'}
      </h1>
      <div className={styles.tools}>
        <TextInput
          label="Search"
          placeholder="Name or email"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Button aria-pressed={deleted} onClick={() => setDeleted(!deleted)}>
          {deleted ? 'Hide deleted users' : 'Show deleted users'}
        </Button>
      </div>
      {shown.length === 0 ? (
        <EmptyState title="No users found" />
      ) : (
        <DataTable label="Users" columns={COLUMNS} rows={shown.map((user) => rowOf(user, setAction))} />
      )}
      <LoadMoreButton pages={pages} />
      <Invitations />
      <EditUserDialog user={action?.kind === 'change' ? action.user : null} onClose={() => setAction(null)} />
      <UserActionDialogs action={action} onClose={() => setAction(null)} onLink={onLink} />
    </div>
  )
}

const SEARCH_DELAY = 200

const COLUMNS = [
  { title: 'User', width: 'minmax(0, 1.5fr)', untitled: true },
  { title: 'Roles', width: 'minmax(0, 1.1fr)' },
  { title: 'Groups', width: 'minmax(0, 1fr)' },
  { title: 'Sign-in methods', width: 'minmax(0, 1fr)' },
  { title: 'Last sign-in', width: '100px' },
  { title: 'More', width: '40px', untitled: true, alignEnd: true },
]

function rowOf(user: User, onAction: (action: UserAction) => void) {
  return {
    key: user.name,
    faded: user.deleted_at !== null,
    cells: [
      <span key="name">
        <strong>{user.display_name || user.name}</strong>
        <p>{[user.display_name !== user.name && user.name, user.email].filter(Boolean).join(', ')}</p>
      </span>,
      roleLabels(user.roles),
      user.groups.join(', '),
      signInLabel(user),
      user.last_signed_in_at === null ? 'never' : <Time key="at" at={user.last_signed_in_at} />,
      <UserMenu key="more" user={user} onAction={onAction} />,
    ],
  }
}
