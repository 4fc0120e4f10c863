import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { endSession, endSessions, sessions } from '~/api/identity'
import type { OpenSession } from '~/api/types'
import { browserLabel } from '~/lib/userAgents'
import { DataTable } from '~/ui/DataTable'
import { LoadingRows } from '~/ui/Loading'
import { Section } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'

/** The open sessions of the current user. */
export function Sessions() {
  const client = useQueryClient()
  const { data, error, refetch } = useQuery(sessions())
  const refresh = { onSettled: () => client.invalidateQueries({ queryKey: ['identity', 'sessions'] }) }
  const end = useMutation({ mutationFn: endSession, ...refresh })
  const endOthers = useMutation({ mutationFn: () => endSessions(), ...refresh })
  const endError = end.error ?? endOthers.error
  return (
    <Section
      title="Active sessions"
      aside={
        data !== undefined &&
        data.items.length > 1 && (
          <Button loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End other sessions
          </Button>
        )
      }
    >
      {endError !== null && <ProblemNotice title="Couldn't end the session." error={endError} />}
      {error !== null ? (
        <LoadError title="Couldn't load your sessions." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingRows rows={2} label="Loading sessions" />
      ) : (
        <DataTable
          label="Your sessions"
          columns={COLUMNS}
          rows={data.items.map((item) => ({
            key: item.session_id,
            cells: [
              <strong key="where">{browserLabel(item.user_agent)}</strong>,
              item.address,
              signInMethodLabel(item),
              <Time key="since" at={item.created_at} />,
              item.is_current ? (
                'this session'
              ) : (
                <Button
                  key="end"
                  loading={end.isPending && end.variables === item.session_id}
                  onClick={() => end.mutate(item.session_id)}
                  aria-label={`End session in ${browserLabel(item.user_agent)}`}
                >
                  End
                </Button>
              ),
            ],
          }))}
        />
      )}
    </Section>
  )
}

const COLUMNS = [
  { title: 'Browser', width: 'minmax(0, 1.2fr)', untitled: true },
  { title: 'IP address', width: 'minmax(0, 1fr)' },
  { title: 'Signed in with', width: 'minmax(0, 1fr)' },
  { title: 'Since', width: '100px' },
  { title: 'End', width: '80px', untitled: true, alignEnd: true },
]

function signInMethodLabel({ signed_in_with: method, scopes }: OpenSession): string {
  const label = method === 'token' ? 'token' : method === 'password' ? 'password' : method
  return scopes === null ? label : `${label} (${scopes.join(', ')})`
}
