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

/** What programs come in with. */
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
        title="The token is made"
        label="Token"
        value={created}
        onClose={() => setCreated(null)}
      >
        Programs send it as <code>Authorization: Bearer …</code>. Only its digest is kept here.
      </OneTimeValueDialog>
    </AdminPage>
  )
}

/** A token of anybody's. */
function NewToken({ onClose, onCreated }: { onClose: () => void; onCreated: (token: string) => void }) {
  const { actor } = useSession()
  const { data: people } = useQuery(peopleQuery())
  const [user, setUser] = useState(actor)
  return (
    <TokenDialog
      scopes={SCOPES}
      description="Within what the roles of its user allow."
      periods={[...PERIODS, { value: '', label: 'For ever' }]}
      create={({ days, ...input }) =>
        createToken({ ...input, user, valid_days: days === '' ? null : Number(days) })
      }
      onClose={onClose}
      onCreated={onCreated}
    >
      <SelectField
        label="Whose it is"
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
    return (
      <LoadError
        title="The tokens could not be read."
        error={pages.error}
        retry={() => void pages.refetch()}
      />
    )
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading the tokens" />
  const items = pages.data.pages.flatMap((page) => page.items)
  const valid = items.filter((token) => token.is_valid).length
  return (
    <div className={styles.sections}>
      <h1>
        {valid === 0 ? 'No token is valid' : `${pluralizeAtLeast(valid, pages.hasNextPage, 'token')} valid`}
      </h1>
      <div>
        <Button aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Hide what is no longer valid' : 'Show also what is no longer valid'}
        </Button>
      </div>
      {items.length === 0 ? (
        <EmptyState title="No program has a token">People need none: they sign in.</EmptyState>
      ) : (
        <TokenTable label="Tokens" tokens={items} showOwner revoke={revokeToken} />
      )}
      <LoadMoreButton pages={pages} />
    </div>
  )
}
