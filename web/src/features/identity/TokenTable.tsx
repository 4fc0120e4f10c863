import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Token } from '~/api/types'
import { left } from '~/lib/durations'
import { scopeWords } from '~/lib/identity'
import { Sheet } from '~/ui/DataTable'
import { FormDialog } from '~/ui/FormDialog'
import { Time, useNow } from '~/ui/Time'
import { tell } from '~/ui/toasts'

type Props = {
  label: string
  tokens: readonly Token[]
  /** Whether it is said whose they are. */
  whose?: boolean
  revoke: (tokenId: string) => Promise<unknown>
}

/** Tokens, each with what it may and a way to end it. */
export function TokenSheet({ label, tokens, whose = false, revoke }: Props) {
  const client = useQueryClient()
  const now = useNow()
  const [revoking, setRevoking] = useState<Token | null>(null)
  const shown = <T,>(parts: readonly T[]) => parts.filter((_, index) => whose || index !== WHOSE)
  return (
    <>
      <Sheet
        label={label}
        columns={shown(COLUMNS)}
        rows={tokens.map((token) => ({
          key: token.token_id,
          faded: !token.is_valid,
          cells: shown<ReactNode>(cellsOf(token, now, setRevoking)),
        }))}
      />
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
          await revoke(revoking.token_id)
          await client.invalidateQueries({ queryKey: ['people'] })
          tell(`${revoking.name} lets nobody in any more.`)
          setRevoking(null)
        }}
      >
        <p>What uses it is refused from the next request on. Sessions that were opened with it end.</p>
      </FormDialog>
    </>
  )
}

const WHOSE = 1
const COLUMNS = [
  { title: 'Token', width: 'minmax(0, 1.4fr)', bare: true },
  { title: 'Whose', width: 'minmax(0, 0.8fr)' },
  { title: 'For', width: 'minmax(0, 1fr)' },
  { title: 'Last used', width: '96px' },
  { title: 'Valid', width: '110px' },
  { title: 'Revoke', width: '96px', bare: true, end: true },
]

function cellsOf(token: Token, now: Date, onRevoke: (token: Token) => void) {
  return [
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
  ]
}
