import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { approvals } from '~/api/queries'
import { Empty } from '~/ui/Empty'
import { Failure } from '~/ui/Failure'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { ofApproval, WaitingRows } from '~/ui/WaitingRows'
import styles from './Inbox.module.css'

/** Everything that waits for a person, the oldest first. */
export function InboxPage() {
  const { data, error, refetch } = useQuery(approvals())
  const waiting = data?.items.length ?? 0
  return (
    <Page title="Approvals">
      <h1 className={styles.title}>
        {data === undefined
          ? 'Approvals'
          : waiting === 0
            ? 'Nothing waits for you'
            : `${waiting}${data.next_cursor ? '+' : ''} ${waiting === 1 ? 'thing waits' : 'things wait'} for you`}
      </h1>
      {error !== null && (
        <Failure what="The approvals could not be read." error={error} retry={() => void refetch()} />
      )}
      <Panel ochre={waiting > 0}>
        {data === undefined ? (
          error === null && <LoadingRows label="Loading approvals" />
        ) : waiting === 0 ? (
          <Empty
            title="All decided"
            action={<Button renderRoot={(props) => <Link to="/runs" {...props} />}>See the runs</Button>}
          >
            A run that needs a form filled in or a decision taken shows up here.
          </Empty>
        ) : (
          <WaitingRows items={data.items.map(ofApproval)} />
        )}
      </Panel>
    </Page>
  )
}
