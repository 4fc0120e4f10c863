import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { endSession, endSessions, sessions } from '~/api/identity'
import type { OpenSession } from '~/api/types'
import { browserWords } from '~/lib/userAgents'
import { Sheet } from '~/ui/DataTable'
import { LoadingRows } from '~/ui/Loading'
import { Section } from '~/ui/Page'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'

/** Where one is signed in; each can be ended. */
export function Sessions() {
  const client = useQueryClient()
  const { data, error, refetch } = useQuery(sessions())
  const refresh = { onSettled: () => client.invalidateQueries({ queryKey: ['people', 'sessions'] }) }
  const end = useMutation({ mutationFn: endSession, ...refresh })
  const endOthers = useMutation({ mutationFn: () => endSessions(), ...refresh })
  const refusal = end.error ?? endOthers.error
  return (
    <Section
      title="Where you are signed in"
      aside={
        data !== undefined &&
        data.items.length > 1 && (
          <Button loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all others
          </Button>
        )
      }
    >
      {refusal !== null && <Refusal title="The session goes on." error={refusal} />}
      {error !== null ? (
        <Failure what="Your sessions could not be read." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingRows rows={2} label="Loading your sessions" />
      ) : (
        <Sheet
          label="Your sessions"
          columns={COLUMNS}
          rows={data.items.map((item) => ({
            key: item.session_id,
            cells: [
              <strong key="where">{browserWords(item.user_agent)}</strong>,
              item.address,
              wayWords(item),
              <Time key="since" at={item.created_at} />,
              item.is_current ? (
                'this one'
              ) : (
                <Button
                  key="end"
                  loading={end.isPending && end.variables === item.session_id}
                  onClick={() => end.mutate(item.session_id)}
                  aria-label={`End the session in ${browserWords(item.user_agent)}`}
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
  { title: 'Browser', width: 'minmax(0, 1.2fr)', bare: true },
  { title: 'From', width: 'minmax(0, 1fr)' },
  { title: 'Signed in with', width: 'minmax(0, 1fr)' },
  { title: 'Since', width: '100px' },
  { title: 'End', width: '80px', bare: true, end: true },
]

function wayWords({ signed_in_with: way, scopes }: OpenSession): string {
  const words = way === 'token' ? 'a token' : way === 'password' ? 'the password' : way
  return scopes === null ? words : `${words}, for ${scopes.join(', ')}`
}
