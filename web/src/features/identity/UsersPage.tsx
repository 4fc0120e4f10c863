import { Button, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { users } from '~/api/identity'
import type { User } from '~/api/types'
import { countOf } from '~/lib/formatting'
import { entryWords, roleWords } from '~/lib/identity'
import { ForAdmins } from '~/ui/AdminPage'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { More } from '~/ui/LoadMore'
import { ShownOnce } from '~/ui/OneTimeValueDialog'
import { Failure } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { UserDialog } from './EditUserDialog'
import styles from './Identity.module.css'
import { Invitations } from './Invitations'
import { InviteDialog } from './InviteDialog'
import { UserDeeds } from './UserActionDialogs'
import { type Deed, UserMenu } from './UserMenu'

/** Who may come in, as what, and by which way. */
export function UsersPage() {
  const [inviting, setInviting] = useState(false)
  const [link, setLink] = useState<string | null>(null)
  return (
    <ForAdmins
      title="Users"
      actions={
        <Button variant="filled" leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
          Invite somebody…
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
      <ShownOnce title="The invitation is ready" label="Link" value={link} onClose={() => setLink(null)}>
        Send this link to whom it is for, and to nobody else: whoever opens it first chooses the password.
      </ShownOnce>
    </ForAdmins>
  )
}

function Users({ onLink }: { onLink: (link: string) => void }) {
  const [removed, setRemoved] = useState(false)
  const [search, setSearch] = useState('')
  const [deed, setDeed] = useState<Deed | null>(null)
  const [wanted] = useDebouncedValue(search.trim(), PAUSE)
  const found = useInfiniteQuery({ ...users(removed, wanted), placeholderData: keepPreviousData })
  if (found.error !== null)
    return (
      <Failure what="The users could not be read." error={found.error} retry={() => void found.refetch()} />
    )
  if (found.data === undefined) return <LoadingRows rows={4} label="Loading the users" />
  const shown = found.data.pages.flatMap((page) => page.items)
  const here = shown.filter((user) => user.removed_at === null).length
  return (
    <div className={styles.parts}>
      <h1>
        {countOf(here, found.hasNextPage, 'user')}
        {wanted !== '' && ' found'}
      </h1>
      <div className={styles.tools}>
        <TextInput
          label="Find"
          placeholder="Name or address"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Button aria-pressed={removed} onClick={() => setRemoved(!removed)}>
          {removed ? 'Hide who was removed' : 'Show also who was removed'}
        </Button>
      </div>
      {shown.length === 0 ? (
        <Empty title="Nobody is called so" />
      ) : (
        <Sheet label="Users" columns={COLUMNS} rows={shown.map((user) => rowOf(user, setDeed))} />
      )}
      <More pages={found} />
      <Invitations />
      <UserDialog user={deed?.kind === 'change' ? deed.user : null} onClose={() => setDeed(null)} />
      <UserDeeds deed={deed} onClose={() => setDeed(null)} onLink={onLink} />
    </div>
  )
}

const PAUSE = 200

const COLUMNS = [
  { title: 'User', width: 'minmax(0, 1.5fr)', bare: true },
  { title: 'Roles', width: 'minmax(0, 1.1fr)' },
  { title: 'Groups', width: 'minmax(0, 1fr)' },
  { title: 'Signs in with', width: 'minmax(0, 1fr)' },
  { title: 'Last here', width: '100px' },
  { title: 'More', width: '40px', bare: true, end: true },
]

function rowOf(user: User, onDeed: (deed: Deed) => void) {
  return {
    key: user.name,
    faded: user.removed_at !== null,
    cells: [
      <span key="name">
        <strong>{user.display_name || user.name}</strong>
        <p>{[user.display_name !== user.name && user.name, user.email].filter(Boolean).join(', ')}</p>
      </span>,
      roleWords(user.roles),
      user.groups.join(', '),
      entryWords(user),
      user.signed_in_at === null ? 'never' : <Time key="at" at={user.signed_in_at} />,
      <UserMenu key="more" user={user} onDeed={onDeed} />,
    ],
  }
}
