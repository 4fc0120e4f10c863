import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { makeOwnToken, ownTokens, revokeOwnToken } from '~/api/identity'
import { useRoles } from '~/api/session'
import { scopesFor } from '~/lib/identity'
import { LoadingRows } from '~/ui/Loading'
import { More } from '~/ui/LoadMore'
import { ShownOnce } from '~/ui/OneTimeValueDialog'
import { Section } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import styles from './Account.module.css'
import { PERIODS, TokenDialog } from './TokenDialog'
import { TokenSheet } from './TokenTable'

/** What one's own programs come in with. */
export function Tokens() {
  const roles = useRoles()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  const found = useInfiniteQuery(ownTokens())
  const items = found.data?.pages.flatMap((page) => page.items)
  return (
    <Section title="Your tokens" aside={<Button onClick={() => setMaking(true)}>New token…</Button>}>
      {found.error !== null ? (
        <Failure
          what="Your tokens could not be read."
          error={found.error}
          retry={() => void found.refetch()}
        />
      ) : items === undefined ? (
        <LoadingRows rows={2} label="Loading your tokens" />
      ) : items.length === 0 ? (
        <p className={styles.note}>None of your programs has a token. You need none to sign in here.</p>
      ) : (
        <TokenSheet label="Your tokens" tokens={items} revoke={revokeOwnToken} />
      )}
      <More pages={found} />
      {making && (
        <TokenDialog
          scopes={scopesFor(roles)}
          about="Within what your roles allow."
          periods={PERIODS}
          make={({ days, ...wish }) => makeOwnToken({ ...wish, valid_days: Number(days) })}
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
    </Section>
  )
}
