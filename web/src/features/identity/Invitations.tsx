import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { invitations, revokeInvitation } from '~/api/identity'
import { timeLeft } from '~/lib/durations'
import { DataTable } from '~/ui/DataTable'
import { Section } from '~/ui/Page'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { Time, useNow } from '~/ui/Time'

/** Invitations that were not used yet. */
export function Invitations() {
  const client = useQueryClient()
  const now = useNow()
  const { data } = useQuery(invitations())
  const revoke = useMutation({
    mutationFn: revokeInvitation,
    onSettled: () => client.invalidateQueries({ queryKey: ['identity'] }),
  })
  if (data === undefined || data.items.length === 0) return null
  return (
    <Section title="Pending invitations" count={data.items.length}>
      {revoke.error !== null && (
        <ProblemNotice title="Couldn't revoke the invitation." error={revoke.error} />
      )}
      <DataTable
        label="Pending invitations"
        columns={COLUMNS}
        rows={data.items.map((item) => ({
          key: item.invitation_id,
          cells: [
            <strong key="user">{item.user}</strong>,
            item.created_by,
            <Time key="at" at={item.created_at} />,
            timeLeft(item.expires_at, now),
            <Button
              key="revoke"
              loading={revoke.isPending && revoke.variables === item.invitation_id}
              onClick={() => revoke.mutate(item.invitation_id)}
              aria-label={`Revoke invitation for ${item.user}`}
            >
              Revoke
            </Button>,
          ],
        }))}
      />
    </Section>
  )
}

const COLUMNS = [
  { title: 'User', width: 'minmax(0, 1.5fr)', untitled: true },
  { title: 'Invited by', width: 'minmax(0, 1fr)' },
  { title: 'Created', width: 'minmax(0, 1fr)' },
  { title: 'Expires', width: 'minmax(0, 1fr)' },
  { title: 'Revoke', width: '110px', untitled: true, alignEnd: true },
]
