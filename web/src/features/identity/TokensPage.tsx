import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createToken, people as peopleQuery, revokeToken, tokens } from '~/api/identity'
import { useSession } from '~/api/session'
import { pluralizeAtLeast } from '~/lib/formatting'
import { personLabel, SCOPES } from '~/lib/identity'
import { AdminPage } from '~/ui/AdminPage'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { OneTimeValueDialog } from '~/ui/OneTimeValueDialog'
import { LoadError } from '~/ui/ProblemNotice'
import { SelectField } from '~/ui/SelectField'
import styles from './Identity.module.css'
import { PERIODS, TokenDialog } from './TokenDialog'
import { TokenTable } from './TokenTable'

/** API tokens of all users. */
export function TokensPage() {
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<string | null>(null)
  return (
    <AdminPage
      title="Tokens"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
          New token…
        </Button>
      }
    >
      <Tokens />
      {creating && (
        <NewToken
          onClose={() => setCreating(false)}
          onCreated={(token) => {
            setCreating(false)
            setCreated(token)
          }}
        />
      )}
      <OneTimeValueDialog
        title="Token created"
        label="Token"
        value={created}
        onClose={() => setCreated(null)}
      >
        Programs send it as <code>Authorization: Bearer …</code>. Cairn stores only a digest of it.
      </OneTimeValueDialog>
    </AdminPage>
  )
}

/** Creates a token for any user. */
function NewToken({ onClose, onCreated }: { onClose: () => void; onCreated: (token: string) => void }) {
  const { actor } = useSession()
  const { data: people } = useQuery(peopleQuery())
  const [user, setUser] = useState(actor)
  return (
    <TokenDialog
      scopes={SCOPES}
      description="Limited to what the user's roles allow."
      periods={[...PERIODS, { value: '', label: 'No expiry' }]}
      create={({ days, ...input }) =>
        createToken({ ...input, user, valid_days: days === '' ? null : Number(days) })
      }
      onClose={onClose}
      onCreated={onCreated}
    >
      <SelectField
        label="User"
        value={user}
        options={(people?.items ?? [{ name: actor, display_name: '' }]).map((person) => ({
          value: person.name,
          label: personLabel(person),
        }))}
        onChange={setUser}
      />
    </TokenDialog>
  )
}

function Tokens() {
  const [all, setAll] = useState(false)
  const pages = useInfiniteQuery(tokens(all))
  if (pages.error !== null)
    return <LoadError title="Couldn't load tokens." error={pages.error} retry={() => void pages.refetch()} />
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading tokens" />
  const items = pages.data.pages.flatMap((page) => page.items)
  const valid = items.filter((token) => token.is_valid).length
  return (
    <div className={styles.sections}>
      <h1>{valid === 0 ? 'No active tokens' : pluralizeAtLeast(valid, pages.hasNextPage, 'active token')}</h1>
      <div>
        <Button aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Hide inactive tokens' : 'Show inactive tokens'}
        </Button>
      </div>
      {items.length === 0 ? (
        <EmptyState title="No tokens">
          Programs use tokens to access the API. People sign in instead.
        </EmptyState>
      ) : (
        <TokenTable label="Tokens" tokens={items} showOwner revoke={revokeToken} />
      )}
      <LoadMoreButton pages={pages} />
    </div>
  )
}
