import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/Empty'
import { Failure } from '~/ui/Failure'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { useWaiting, waitingWords } from '~/ui/useWaiting'
import { WaitingRows } from '~/ui/WaitingRows'
import styles from './Inbox.module.css'

/** Everything that waits for a person, the oldest first. */
export function InboxPage() {
  const { items, more, error, refetch } = useWaiting()
  return (
    <Page title="Approvals">
      <h1 className={styles.title}>{waitingWords(items, more, 'Approvals')}</h1>
      {error !== null && <Failure what="The approvals could not be read." error={error} retry={refetch} />}
      <Panel ochre={items !== undefined && items.length > 0}>
        {items === undefined ? (
          error === null && <LoadingRows label="Loading approvals" />
        ) : items.length === 0 ? (
          <Empty
            title="All decided"
            action={<Button renderRoot={(props) => <Link to="/runs" {...props} />}>See the runs</Button>}
          >
            A run that needs a form filled in, a decision taken or a start by hand shows up here.
          </Empty>
        ) : (
          <WaitingRows items={items} />
        )}
      </Panel>
    </Page>
  )
}
