import { Button, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeGroup, groups, makeGroup, persons, removeGroup } from '~/api/identity'
import type { Group } from '~/api/types'
import { count } from '~/lib/formatting'
import { nameWords } from '~/lib/identity'
import { ForAdmins } from '~/ui/AdminPage'
import { Ticks } from '~/ui/CheckboxList'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './Identity.module.css'

/** Names for several users, to be asked together. */
export function GroupsPage() {
  const [open, setOpen] = useState<Group | 'new' | null>(null)
  return (
    <ForAdmins
      title="Groups"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
          New group…
        </Button>
      }
    >
      <Groups onOpen={setOpen} />
      {open !== null && <GroupDialog group={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </ForAdmins>
  )
}

function Groups({ onOpen }: { onOpen: (group: Group) => void }) {
  const client = useQueryClient()
  const [removing, setRemoving] = useState<Group | null>(null)
  const { data, error, refetch } = useQuery(groups())
  if (error !== null)
    return <Failure what="The groups could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the groups" />
  return (
    <div className={styles.parts}>
      <h1>{data.items.length === 0 ? 'No groups yet' : count(data.items.length, 'group')}</h1>
      {data.items.length === 0 ? (
        <Empty title="Nobody is grouped">A rule can name a group where people are asked.</Empty>
      ) : (
        <Sheet
          label="Groups"
          columns={COLUMNS}
          rows={data.items.map((group) => ({
            key: group.name,
            cells: [
              <span key="name">
                <strong>{group.name}</strong>
                {group.description !== '' && <p>{group.description}</p>}
              </span>,
              group.members.length === 0 ? 'nobody' : group.members.join(', '),
              <>
                <Button key="change" onClick={() => onOpen(group)} aria-label={`Change ${group.name}…`}>
                  Change…
                </Button>
                <Button
                  key="remove"
                  variant="subtle"
                  color="red"
                  onClick={() => setRemoving(group)}
                  aria-label={`Remove ${group.name}…`}
                >
                  Remove…
                </Button>
              </>,
            ],
          }))}
        />
      )}
      <FormDialog
        title={`Remove the group ${removing?.name ?? ''}?`}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        keep="Keep the group"
        send="Remove the group"
        refused="The group stays."
        danger
        onSend={async () => {
          if (removing !== null) await removeGroup(removing.name)
          await client.invalidateQueries({ queryKey: ['people'] })
          setRemoving(null)
        }}
      >
        <p>Its members stay users. Where a rule names the group, nobody is asked by that name any more.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Group', width: 'minmax(0, 1fr)', bare: true },
  { title: 'Members', width: 'minmax(0, 1.5fr)' },
  { title: 'Change', width: '190px', bare: true, end: true },
]

function GroupDialog({ group, onClose }: { group: Group | null; onClose: () => void }) {
  const client = useQueryClient()
  const { data: people } = useQuery(persons())
  const [name, setName] = useState(group?.name ?? '')
  const [description, setDescription] = useState(group?.description ?? '')
  const [members, setMembers] = useState<string[]>(group?.members ?? [])
  return (
    <FormDialog
      title={group === null ? 'New group' : `Change ${group.name}`}
      opened
      onClose={onClose}
      keep="Leave it so"
      send={group === null ? 'Make the group' : 'Save the group'}
      refused={group === null ? 'There is no new group.' : 'Nothing was changed.'}
      disabled={name.trim() === ''}
      onSend={async () => {
        const body = { description, members }
        await (group === null ? makeGroup(name, body) : changeGroup(group.name, body))
        await client.invalidateQueries({ queryKey: ['people'] })
        tell(group === null ? `The group ${name} is made.` : `${group.name} is changed.`)
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
        label="What it is for (optional)"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Ticks
        label="Members"
        options={(people?.items ?? []).map((person) => ({
          value: person.name,
          label: nameWords(person),
          about: person.may_decide ? undefined : 'May not decide.',
        }))}
        value={members}
        onChange={setMembers}
      />
    </FormDialog>
  )
}
