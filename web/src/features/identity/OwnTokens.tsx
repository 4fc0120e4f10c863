import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createOwnToken, ownTokens, revokeOwnToken } from '~/api/identity'
import { useRoles } from '~/api/session'
import { scopesForRoles } from '~/lib/identity'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { OneTimeValueDialog } from '~/ui/OneTimeValueDialog'
import { Section } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './Account.module.css'
import { PERIODS, TokenDialog } from './TokenDialog'
import { TokenTable } from './TokenTable'

/** What one's own programs come in with. */
export function OwnTokens() {
  const roles = useRoles()
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<string | null>(null)
  const pages = useInfiniteQuery(ownTokens())
  const items = pages.data?.pages.flatMap((page) => page.items)
  return (
    <Section title="Your tokens" aside={<Button onClick={() => setCreating(true)}>New token…</Button>}>
      {pages.error !== null ? (
        <LoadError
          title="Your tokens could not be read."
          error={pages.error}
          retry={() => void pages.refetch()}
        />
      ) : items === undefined ? (
        <LoadingRows rows={2} label="Loading your tokens" />
      ) : items.length === 0 ? (
        <p className={styles.note}>None of your programs has a token. You need none to sign in here.</p>
      ) : (
        <TokenTable label="Your tokens" tokens={items} revoke={revokeOwnToken} />
      )}
      <LoadMoreButton pages={pages} />
      {creating && (
        <TokenDialog
          scopes={scopesForRoles(roles)}
          description="Within what your roles allow."
          periods={PERIODS}
          create={({ days, ...input }) => createOwnToken({ ...input, valid_days: Number(days) })}
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
    </Section>
  )
}
