import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { delegations, endDelegation } from '~/api/identity'
import { useSession } from '~/api/session'
import type { Delegation } from '~/api/types'
import { exact } from '~/lib/durations'
import { Sheet } from '~/ui/DataTable'
import { LoadingRows } from '~/ui/Loading'
import { Section } from '~/ui/Page'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import styles from './Account.module.css'
import { AwayDialog } from './DelegationDialog'

/** Who decides for whom: one's own, and for admins everybody's. */
export function Away() {
  const client = useQueryClient()
  const { actor, roles } = useSession()
  const isAdmin = roles.includes('admin')
  const [asking, setAsking] = useState(false)
  const { data, error, refetch } = useQuery(delegations(isAdmin ? undefined : actor))
  const end = useMutation({
    mutationFn: endDelegation,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['session'] })
      return client.invalidateQueries({ queryKey: ['people', 'delegations'] })
    },
  })
  return (
    <Section
      title="While somebody is away"
      aside={<Button onClick={() => setAsking(true)}>Let somebody decide…</Button>}
    >
      {end.error !== null && <Refusal title="Nothing has ended." error={end.error} />}
      {error !== null ? (
        <Failure what="Who decides for whom could not be read." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingRows rows={2} label="Loading who decides for whom" />
      ) : data.items.length === 0 ? (
        <p className={styles.note}>
          Nobody decides for anybody else. Before you are away, name who answers what is asked of you.
        </p>
      ) : (
        <Sheet
          label="Who decides for whom"
          columns={COLUMNS}
          rows={data.items.map((item) =>
            rowOf(item, isAdmin || item.from_user === actor || item.to_user === actor, {
              busy: end.isPending && end.variables === item.delegation_id,
              onEnd: () => end.mutate(item.delegation_id),
            }),
          )}
        />
      )}
      {asking && <AwayDialog onClose={() => setAsking(false)} />}
    </Section>
  )
}

const COLUMNS = [
  { title: 'Who decides', width: 'minmax(0, 1.4fr)', bare: true },
  { title: 'From', width: 'minmax(0, 1fr)' },
  { title: 'Until', width: 'minmax(0, 1fr)' },
  { title: 'Why', width: 'minmax(0, 1fr)' },
  { title: 'End', width: '100px', bare: true, end: true },
]

type Ending = { busy: boolean; onEnd: () => void }

function rowOf(item: Delegation, may: boolean, { busy, onEnd }: Ending) {
  return {
    key: item.delegation_id,
    cells: [
      <span key="who">
        <strong>{item.to_user}</strong> for <strong>{item.from_user}</strong>
        {!item.is_in_force && <p>not yet</p>}
      </span>,
      exact(item.starts_at),
      exact(item.until),
      item.reason,
      may && (
        <Button
          key="end"
          loading={busy}
          onClick={onEnd}
          aria-label={`End that ${item.to_user} decides for ${item.from_user}`}
        >
          End now
        </Button>
      ),
    ],
  }
}
