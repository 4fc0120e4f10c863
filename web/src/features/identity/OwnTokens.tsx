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

/** The API tokens of the current user. */
export function OwnTokens() {
  const roles = useRoles()
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<string | null>(null)
  const pages = useInfiniteQuery(ownTokens())
  const items = pages.data?.pages.flatMap((page) => page.items)
  return (
    <Section title="API tokens" aside={<Button onClick={() => setCreating(true)}>New token…</Button>}>
      {pages.error !== null ? (
        <LoadError
          title="Couldn't load your tokens."
          error={pages.error}
          retry={() => void pages.refetch()}
        />
      ) : items === undefined ? (
        <LoadingRows rows={2} label="Loading tokens" />
      ) : items.length === 0 ? (
        <p className={styles.note}>No tokens. You only need one for programs that use the API.</p>
      ) : (
        <TokenTable label="API tokens" tokens={items} revoke={revokeOwnToken} />
      )}
      <LoadMoreButton pages={pages} />
      {creating && (
        <TokenDialog
          scopes={scopesForRoles(roles)}
          description="Limited to what your roles allow."
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
        title="Token created"
        label="Token"
        value={created}
        onClose={() => setCreated(null)}
      >
        Programs send it as <code>Authorization: Bearer …</code>. Cairn stores only a digest of it.
      </OneTimeValueDialog>
    </Section>
  )
}
