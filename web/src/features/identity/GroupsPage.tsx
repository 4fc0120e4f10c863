import { Button, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createGroup, deleteGroup, groups, people as peopleQuery, updateGroup } from '~/api/identity'
import type { Group } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { personLabel } from '~/lib/identity'
import { AdminPage } from '~/ui/AdminPage'
import { CheckboxList } from '~/ui/CheckboxList'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Identity.module.css'

/** Groups of users that rules can assign approvals to. */
export function GroupsPage() {
  const [open, setOpen] = useState<Group | 'new' | null>(null)
  return (
    <AdminPage
      title="Groups"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
          New group…
        </Button>
      }
    >
      <Groups onOpen={setOpen} />
      {open !== null && <GroupDialog group={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </AdminPage>
  )
}

function Groups({ onOpen }: { onOpen: (group: Group) => void }) {
  const client = useQueryClient()
  const [deleting, setDeleting] = useState<Group | null>(null)
  const { data, error, refetch } = useQuery(groups())
  if (error !== null)
    return <LoadError title="Couldn't load groups." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading groups" />
  return (
    <div className={styles.sections}>
      <h1>{data.items.length === 0 ? 'No groups yet' : pluralize(data.items.length, 'group')}</h1>
      {data.items.length === 0 ? (
        <EmptyState title="Create a group to assign approvals to several people">
          Rules can assign approvals to a group.
        </EmptyState>
      ) : (
        <DataTable
          label="Groups"
          columns={COLUMNS}
          rows={data.items.map((group) => ({
            key: group.name,
            cells: [
              <span key="name">
                <strong>{group.name}</strong>
                {group.description !== '' && <p>{group.description}</p>}
              </span>,
              group.members.length === 0 ? 'no members' : group.members.join(', '),
              <>
                <Button key="change" onClick={() => onOpen(group)} aria-label={`Edit ${group.name}…`}>
                  Edit…
                </Button>
                <Button
                  key="remove"
                  variant="subtle"
                  color="red"
                  onClick={() => setDeleting(group)}
                  aria-label={`Delete ${group.name}…`}
                >
                  Delete…
                </Button>
              </>,
            ],
          }))}
        />
      )}
      <FormDialog
        title={`Delete group ${deleting?.name ?? ''}?`}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        cancelLabel="Cancel"
        submitLabel="Delete group"
        errorTitle="Couldn't delete the group."
        danger
        onSubmit={async () => {
          if (deleting !== null) await deleteGroup(deleting.name)
          await client.invalidateQueries({ queryKey: ['identity'] })
          setDeleting(null)
        }}
      >
        <p>Its members keep their accounts. Rules that name the group no longer assign approvals to them.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Group', width: 'minmax(0, 1fr)', untitled: true },
  { title: 'Members', width: 'minmax(0, 1.5fr)' },
  { title: 'Edit', width: '190px', untitled: true, alignEnd: true },
]

function GroupDialog({ group, onClose }: { group: Group | null; onClose: () => void }) {
  const client = useQueryClient()
  const { data: people } = useQuery(peopleQuery())
  const [name, setName] = useState(group?.name ?? '')
  const [description, setDescription] = useState(group?.description ?? '')
  const [members, setMembers] = useState<string[]>(group?.members ?? [])
  return (
    <FormDialog
      title={group === null ? 'New group' : `Edit ${group.name}`}
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel={group === null ? 'Create group' : 'Save group'}
      errorTitle={group === null ? "Couldn't create the group." : "Couldn't save the group."}
      disabled={name.trim() === ''}
      onSubmit={async () => {
        const body = { description, members }
        await (group === null ? createGroup(name, body) : updateGroup(group.name, body))
        await client.invalidateQueries({ queryKey: ['identity'] })
        showToast(group === null ? `Created group ${name}.` : `Saved group ${group.name}.`)
        onClose()
      }}
    >
      {group === null && (
        <TextInput
          label="Name"
          data-autofocus
          autoCapitalize="off"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <TextInput
        label="Description (optional)"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <CheckboxList
        label="Members"
        options={(people?.items ?? []).map((person) => ({
          value: person.name,
          label: personLabel(person),
          description: person.can_decide ? undefined : "Can't decide approvals.",
        }))}
        value={members}
        onChange={setMembers}
      />
    </FormDialog>
  )
}
