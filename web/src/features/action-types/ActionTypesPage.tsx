import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { actionTypes, removeActionType } from '~/api/actionTypes'
import type { ActionType } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { AdminPage } from '~/ui/AdminPage'
import { DataTable } from '~/ui/DataTable'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { RiskTag } from '~/ui/RiskTag'
import { ActionTypeDialog } from './ActionTypeDialog'
import styles from './ActionTypesPage.module.css'

const SOURCES = { 'built-in': 'Built in', settings: 'Settings file', admin: 'Changed here' } as const

/** The catalogue of action types. */
export function ActionTypesPage() {
  const [editing, setEditing] = useState<ActionType | 'new' | null>(null)
  return (
    <AdminPage
      title="Action types"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setEditing('new')}>
          New action type…
        </Button>
      }
    >
      <TypeList onEdit={setEditing} />
      {editing !== null && (
        <ActionTypeDialog type={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      )}
    </AdminPage>
  )
}

function TypeList({ onEdit }: { onEdit: (type: ActionType) => void }) {
  const client = useQueryClient()
  const [removing, setRemoving] = useState<ActionType | null>(null)
  const { data, error, refetch } = useQuery(actionTypes())
  if (error !== null)
    return <LoadError title="Couldn't load action types." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={4} label="Loading action types" />
  return (
    <div className={styles.sections}>
      <h1>{pluralize(data.items.length, 'action type')}</h1>
      <p className={styles.note}>
        Pipelines can only narrow these types. People decide about every action of a type that neither this
        list nor its pipeline has.
      </p>
      <DataTable
        label="Action types"
        columns={COLUMNS}
        rows={data.items.map((type) => ({
          key: type.name,
          cells: [
            <span key="name" className={styles.name}>
              <code>{type.name}</code>
              {type.description !== '' && <p className={styles.detail}>{type.description}</p>}
            </span>,
            <RiskTag key="risk" risk={type.risk_level} />,
            type.hosts === null ? '' : type.hosts.join(', ') || 'none',
            SOURCES[type.source],
            type.source === 'settings' ? null : (
              <>
                <Button key="edit" onClick={() => onEdit(type)} aria-label={`Edit ${type.name}…`}>
                  Edit…
                </Button>
                {type.source === 'admin' && (
                  <Button
                    key="remove"
                    variant="subtle"
                    color="red"
                    onClick={() => setRemoving(type)}
                    aria-label={`Remove ${type.name}…`}
                  >
                    Remove…
                  </Button>
                )}
              </>
            ),
          ],
        }))}
      />
      <FormDialog
        title={`Remove ${removing?.name ?? ''}?`}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        cancelLabel="Cancel"
        submitLabel="Remove action type"
        errorTitle="Couldn't remove the action type."
        danger
        onSubmit={async () => {
          if (removing !== null) await removeActionType(removing.name)
          await client.invalidateQueries({ queryKey: ['action-types'] })
          setRemoving(null)
        }}
      >
        <p>A built-in type returns to its default. People decide about every action of any other type.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Name', width: 'minmax(0, 1.6fr)', untitled: true },
  { title: 'Risk', width: 'minmax(0, 0.5fr)' },
  { title: 'Hosts', width: 'minmax(0, 1fr)' },
  { title: 'Source', width: 'minmax(0, 0.7fr)' },
  { title: 'Edit', width: '190px', untitled: true, alignEnd: true },
]
