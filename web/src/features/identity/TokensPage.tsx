import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { makeToken, persons, revokeToken, tokens } from '~/api/identity'
import { useSession } from '~/api/session'
import { countOf } from '~/lib/formatting'
import { nameWords, SCOPES } from '~/lib/identity'
import { ForAdmins } from '~/ui/AdminPage'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { More } from '~/ui/LoadMore'
import { ShownOnce } from '~/ui/OneTimeValueDialog'
import { Failure } from '~/ui/ProblemNotice'
import { Choice } from '~/ui/SelectField'
import styles from './Identity.module.css'
import { PERIODS, TokenDialog } from './TokenDialog'
import { TokenSheet } from './TokenTable'

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
        <NewToken
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

/** A token of anybody's. */
function NewToken({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const { actor } = useSession()
  const { data: people } = useQuery(persons())
  const [user, setUser] = useState(actor)
  return (
    <TokenDialog
      scopes={SCOPES}
      about="Within what the roles of its user allow."
      periods={[...PERIODS, { value: '', label: 'For ever' }]}
      make={({ days, ...wish }) =>
        makeToken({ ...wish, user, valid_days: days === '' ? null : Number(days) })
      }
      onClose={onClose}
      onMade={onMade}
    >
      <Choice
        label="Whose it is"
        value={user}
        options={(people?.items ?? [{ name: actor, display_name: '' }]).map((person) => ({
          value: person.name,
          label: nameWords(person),
        }))}
        onChange={setUser}
      />
    </TokenDialog>
  )
}

function Tokens() {
  const [all, setAll] = useState(false)
  const found = useInfiniteQuery(tokens(all))
  if (found.error !== null)
    return (
      <Failure what="The tokens could not be read." error={found.error} retry={() => void found.refetch()} />
    )
  if (found.data === undefined) return <LoadingRows rows={3} label="Loading the tokens" />
  const items = found.data.pages.flatMap((page) => page.items)
  const valid = items.filter((token) => token.is_valid).length
  return (
    <div className={styles.parts}>
      <h1>{valid === 0 ? 'No token is valid' : `${countOf(valid, found.hasNextPage, 'token')} valid`}</h1>
      <div>
        <Button aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Hide what is no longer valid' : 'Show also what is no longer valid'}
        </Button>
      </div>
      {items.length === 0 ? (
        <Empty title="No program has a token">People need none: they sign in.</Empty>
      ) : (
        <TokenSheet label="Tokens" tokens={items} whose revoke={revokeToken} />
      )}
      <More pages={found} />
    </div>
  )
}
