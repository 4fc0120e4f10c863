import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeToken, tokens } from '~/api/people'
import type { Token } from '~/api/types'
import { left } from '~/lib/durations'
import { scopeWords } from '~/lib/people'
import { count } from '~/lib/sizes'
import { Empty } from '~/ui/Empty'
import { Failure } from '~/ui/Failure'
import { ForAdmins } from '~/ui/ForAdmins'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { Sheet } from '~/ui/Sheet'
import { ShownOnce } from '~/ui/ShownOnce'
import { Time, useNow } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import styles from './People.module.css'
import { TokenDialog } from './TokenDialog'

/** What programs come in with. */
export function TokensPage() {
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  return (
    <ForAdmins
      title="Tokens"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
          New token…
        </Button>
      }
    >
      <Tokens />
      {making && (
        <TokenDialog
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMaking(false)
            setMade(token)
          }}
        />
      )}
      <ShownOnce title="The token is made" label="Token" value={made} onClose={() => setMade(null)}>
        Programs send it as <code>Authorization: Bearer …</code>. Only its digest is kept here.
      </ShownOnce>
    </ForAdmins>
  )
}

function Tokens() {
  const [all, setAll] = useState(false)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const client = useQueryClient()
  const now = useNow()
  const { data, error, refetch } = useQuery(tokens(all))
  if (error !== null)
    return <Failure what="The tokens could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the tokens" />
  const valid = data.items.filter((token) => token.is_valid).length
  return (
    <div className={styles.parts}>
      <h1>{valid === 0 ? 'No token is valid' : `${count(valid, 'token')} valid`}</h1>
      <div>
        <Button aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Hide what is no longer valid' : 'Show also what is no longer valid'}
        </Button>
      </div>
      {data.items.length === 0 ? (
        <Empty title="No program has a token">People need none: they sign in.</Empty>
      ) : (
        <Sheet
          label="Tokens"
          columns={COLUMNS}
          rows={data.items.map((token) => rowOf(token, now, setRevoking))}
        />
      )}
      <FormDialog
        title={`Revoke ${revoking?.name ?? ''}?`}
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        keep="Keep it valid"
        send="Revoke the token"
        refused="The token is still valid."
        danger
        note="It cannot be made valid again."
        onSend={async () => {
          if (revoking === null) return
          await revokeToken(revoking.token_id)
          await client.invalidateQueries({ queryKey: ['people'] })
          tell(`${revoking.name} lets nobody in any more.`)
          setRevoking(null)
        }}
      >
        <p>What uses it is refused from the next request on. Sessions that were opened with it end.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Token', width: 'minmax(0, 1.4fr)', bare: true },
  { title: 'Whose', width: 'minmax(0, 0.8fr)' },
  { title: 'For', width: 'minmax(0, 1fr)' },
  { title: 'Last used', width: '96px' },
  { title: 'Valid', width: '110px' },
  { title: 'Revoke', width: '96px', bare: true, end: true },
]

function rowOf(token: Token, now: Date, onRevoke: (token: Token) => void) {
  return {
    key: token.token_id,
    faded: !token.is_valid,
    cells: [
      <span key="name">
        <strong>{token.name}</strong>
        <p>
          made by {token.created_by}, <Time at={token.created_at} />
        </p>
      </span>,
      token.user,
      scopeWords(token.scopes),
      token.last_used_at === null ? 'never' : <Time key="used" at={token.last_used_at} />,
      token.revoked_at !== null ? 'revoked' : (left(token.expires_at, now) ?? 'for ever'),
      token.is_valid && (
        <Button
          key="revoke"
          variant="subtle"
          color="red"
          onClick={() => onRevoke(token)}
          aria-label={`Revoke ${token.name}…`}
        >
          Revoke…
        </Button>
      ),
    ],
  }
}
