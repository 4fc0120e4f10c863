import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Token } from '~/api/types'
import { timeLeft } from '~/lib/durations'
import { scopeLabels } from '~/lib/identity'
import { DataTable } from '~/ui/DataTable'
import { FormDialog } from '~/ui/FormDialog'
import { Time, useNow } from '~/ui/Time'
import { showToast } from '~/ui/toasts'

type Props = {
  label: string
  tokens: readonly Token[]
  /** Whether to show the owner. */
  showOwner?: boolean
  revoke: (tokenId: string) => Promise<unknown>
}

/** Tokens with their scopes, and a button to revoke each. */
export function TokenTable({ label, tokens, showOwner = false, revoke }: Props) {
  const client = useQueryClient()
  const now = useNow()
  const [revoking, setRevoking] = useState<Token | null>(null)
  const visible = <T,>(parts: readonly T[]) => parts.filter((_, index) => showOwner || index !== OWNER_COLUMN)
  return (
    <>
      <DataTable
        label={label}
        columns={visible(COLUMNS)}
        rows={tokens.map((token) => ({
          key: token.token_id,
          faded: !token.is_valid,
          cells: visible<ReactNode>(cellsOf(token, now, setRevoking)),
        }))}
      />
      <FormDialog
        title={`Revoke ${revoking?.name ?? ''}?`}
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        cancelLabel="Cancel"
        submitLabel="Revoke token"
        errorTitle="Couldn't revoke the token."
        danger
        note="This can't be undone."
        onSubmit={async () => {
          if (revoking === null) return
          await revoke(revoking.token_id)
          await client.invalidateQueries({ queryKey: ['identity'] })
          showToast(`Revoked token ${revoking.name}.`)
          setRevoking(null)
        }}
      >
        <p>Requests with this token fail immediately. Sessions opened with it end.</p>
      </FormDialog>
    </>
  )
}

const OWNER_COLUMN = 1
const COLUMNS = [
  { title: 'Token', width: 'minmax(0, 1.4fr)', untitled: true },
  { title: 'User', width: 'minmax(0, 0.8fr)' },
  { title: 'Scopes', width: 'minmax(0, 1fr)' },
  { title: 'Last used', width: '96px' },
  { title: 'Expires', width: '110px' },
  { title: 'Revoke', width: '96px', untitled: true, alignEnd: true },
]

function cellsOf(token: Token, now: Date, onRevoke: (token: Token) => void) {
  return [
    <span key="name">
      <strong>{token.name}</strong>
      <p>
        created by {token.created_by}, <Time at={token.created_at} />
      </p>
    </span>,
    token.user,
    scopeLabels(token.scopes),
    token.last_used_at === null ? 'never' : <Time key="used" at={token.last_used_at} />,
    token.revoked_at !== null ? 'revoked' : (timeLeft(token.expires_at, now) ?? 'never'),
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
