import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { approvals, pipelines, runs } from '~/api/queries'
import type { RunSummary } from '~/api/types'
import { ApprovalRows } from '~/ui/ApprovalRows'
import { Empty } from '~/ui/Empty'
import { Failure } from '~/ui/Failure'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel, Section } from '~/ui/Page'
import { RunRows } from '~/ui/RunRows'
import { useNow } from '~/ui/Time'
import { FailedRuns } from './FailedRuns'
import { FirstRun } from './FirstRun'
import styles from './Home.module.css'

const MOST = 6

/** What waits, what goes on, what failed. The title is the answer. */
export function HomePage() {
  const waiting = useQuery(approvals())
  const newest = useQuery(runs(30))
  const all = useQuery(pipelines())
  const isNew = all.data?.items.length === 0 && newest.data?.items.length === 0
  if (isNew) {
    return (
      <Page title="Home">
        <FirstRun />
      </Page>
    )
  }
  const error = waiting.error ?? newest.error
  return (
    <Page
      title="Home"
      actions={
        <Button
          leftSection={<IconPlus size={16} />}
          renderRoot={(props) => <Link to="/pipelines/new" {...props} />}
        >
          New pipeline
        </Button>
      }
    >
      <div className={styles.home}>
        <div className={styles.head}>
          <h1>{titleOf(waiting.data?.items.length, waiting.data?.next_cursor != null)}</h1>
          <Today />
        </div>
        {error !== null && (
          <Failure
            what="Home could not be read."
            error={error}
            retry={() => {
              void waiting.refetch()
              void newest.refetch()
            }}
          />
        )}
        {waiting.data === undefined ? (
          error === null && (
            <Panel>
              <LoadingRows rows={3} />
            </Panel>
          )
        ) : waiting.data.items.length > 0 ? (
          <>
            <Panel ochre>
              <ApprovalRows approvals={waiting.data.items.slice(0, MOST)} />
            </Panel>
            {waiting.data.items.length > MOST && (
              <p className={styles.more}>
                <Link to="/approvals">All {waiting.data.items.length} that wait</Link>
              </p>
            )}
          </>
        ) : null}
        {newest.data !== undefined && (
          <Runs items={newest.data.items} calm={waiting.data?.items.length === 0} />
        )}
      </div>
    </Page>
  )
}

function titleOf(waiting: number | undefined, more: boolean): string {
  if (waiting === undefined) return 'Home'
  if (waiting === 0) return 'Nothing waits for you'
  return `${waiting}${more ? '+' : ''} ${waiting === 1 ? 'thing waits' : 'things wait'} for you`
}

function Today() {
  const now = useNow()
  return (
    <span className={styles.today}>
      {now.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })}
    </span>
  )
}

const DAY = 86_400_000

function Runs({ items, calm }: { items: RunSummary[]; calm: boolean }) {
  const live = items.filter((run) => run.archived_by === null)
  const going = live.filter((run) => run.status === 'in_progress' || run.status === 'paused')
  const failed = live.filter(
    (run) =>
      run.status === 'failed' &&
      Date.now() - new Date(run.completed_at ?? run.created_at).getTime() < 2 * DAY,
  )
  const rest = live.filter((run) => !going.includes(run) && !failed.includes(run)).slice(0, MOST)
  if (live.length === 0) {
    return (
      <Panel>
        <Empty
          title="Nothing has run yet"
          action={
            <Button variant="filled" renderRoot={(props) => <Link to="/pipelines" {...props} />}>
              Start a pipeline
            </Button>
          }
        >
          Your pipelines are ready. The first run will be v1.
        </Empty>
      </Panel>
    )
  }
  return (
    <>
      {going.length > 0 && (
        <Section title="Under way" count={going.length} aside={<Link to="/runs">All runs</Link>}>
          <Panel>
            <RunRows runs={going.slice(0, MOST)} />
          </Panel>
        </Section>
      )}
      {failed.length > 0 && <FailedRuns runs={failed.slice(0, MOST)} />}
      {rest.length > 0 && (
        <Section title="Newest runs" aside={going.length === 0 && <Link to="/runs">All runs</Link>}>
          <Panel>
            <RunRows runs={rest} />
          </Panel>
        </Section>
      )}
      {calm && going.length === 0 && rest.length === 0 && failed.length === 0 && <Empty title="All quiet" />}
    </>
  )
}
