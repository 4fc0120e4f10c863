import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { delegations, endDelegation } from '~/api/identity'
import { useSession } from '~/api/session'
import type { Delegation } from '~/api/types'
import { formatDateTime } from '~/lib/durations'
import { DataTable } from '~/ui/DataTable'
import { LoadingRows } from '~/ui/Loading'
import { Section } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import styles from './Account.module.css'
import { DelegationDialog } from './DelegationDialog'

/** The delegations of the current user. Admins see all. */
export function Delegations() {
  const client = useQueryClient()
  const { actor, roles } = useSession()
  const isAdmin = roles.includes('admin')
  const [creating, setCreating] = useState(false)
  const { data, error, refetch } = useQuery(delegations(isAdmin ? undefined : actor))
  const end = useMutation({
    mutationFn: endDelegation,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['session'] })
      return client.invalidateQueries({ queryKey: ['identity', 'delegations'] })
    },
  })
  return (
    <Section title="Delegations" aside={<Button onClick={() => setCreating(true)}>New delegation…</Button>}>
      {end.error !== null && <ProblemNotice title="Couldn't end the delegation." error={end.error} />}
      {error !== null ? (
        <LoadError title="Couldn't load delegations." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingRows rows={2} label="Loading delegations" />
      ) : data.items.length === 0 ? (
        <p className={styles.note}>
          No delegations. Before you are away, delegate your approvals to someone else.
        </p>
      ) : (
        <DataTable
          label="Delegations"
          columns={COLUMNS}
          rows={data.items.map((item) =>
            rowOf(item, isAdmin || item.from_user === actor || item.to_user === actor, {
              busy: end.isPending && end.variables === item.delegation_id,
              onEnd: () => end.mutate(item.delegation_id),
            }),
          )}
        />
      )}
      {creating && <DelegationDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

const COLUMNS = [
  { title: 'Delegation', width: 'minmax(0, 1.4fr)', untitled: true },
  { title: 'Starts', width: 'minmax(0, 1fr)' },
  { title: 'Ends', width: 'minmax(0, 1fr)' },
  { title: 'Reason', width: 'minmax(0, 1fr)' },
  { title: 'End', width: '100px', untitled: true, alignEnd: true },
]

type EndButton = { busy: boolean; onEnd: () => void }

function rowOf(item: Delegation, canEnd: boolean, { busy, onEnd }: EndButton) {
  return {
    key: item.delegation_id,
    cells: [
      <span key="who">
        <strong>{item.to_user}</strong> for <strong>{item.from_user}</strong>
        {!item.is_active && <p>not active yet</p>}
      </span>,
      formatDateTime(item.starts_at),
      formatDateTime(item.ends_at),
      item.reason,
      canEnd && (
        <Button
          key="end"
          loading={busy}
          onClick={onEnd}
          aria-label={`End delegation from ${item.from_user} to ${item.to_user}`}
        >
          End now
        </Button>
      ),
    ],
  }
}
