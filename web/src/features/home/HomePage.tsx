import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pipelines, runs } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { RunSummary } from '~/api/types'
import { hasFailed, mayEdit } from '~/lib/states'
import { onlyWaitsForAStart } from '~/lib/waiting'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel, Section } from '~/ui/Page'
import { WaitingRows } from '~/ui/PendingRows'
import { Failure } from '~/ui/ProblemNotice'
import { RunRows } from '~/ui/RunRows'
import { useNow } from '~/ui/Time'
import { NEWEST_RUNS, useWaiting, waitingWords } from '~/ui/usePendingItems'
import { FailedRuns } from './FailedRuns'
import { FirstRun } from './FirstRun'
import styles from './Home.module.css'

const MOST = 6

/** What waits, what goes on, what failed. The title is the answer. */
export function HomePage() {
  const { items: waiting, more, error, refetch } = useWaiting()
  const newest = useQuery(runs(NEWEST_RUNS))
  const all = useQuery(pipelines())
  const allowed = mayEdit(useRoles())
  if (all.data?.items.length === 0 && newest.data?.items.length === 0) {
    return (
      <Page title="Home">
        <FirstRun />
      </Page>
    )
  }
  return (
    <Page
      title="Home"
      actions={
        allowed && (
          <Button
            leftSection={<IconPlus size={16} />}
            renderRoot={(props) => <Link to="/pipelines/new" {...props} />}
          >
            New pipeline
          </Button>
        )
      }
    >
      <div className={styles.home}>
        <div className={styles.head}>
          <h1>{waitingWords(waiting, more, 'Home')}</h1>
          <Today />
        </div>
        {error !== null && <Failure what="Home could not be read." error={error} retry={refetch} />}
        {waiting === undefined && error === null && (
          <Panel>
            <LoadingRows rows={3} />
          </Panel>
        )}
        {waiting !== undefined && waiting.length > 0 && (
          <Panel ochre>
            <WaitingRows items={waiting.slice(0, MOST)} />
          </Panel>
        )}
        {waiting !== undefined && waiting.length > MOST && (
          <p className={styles.more}>
            <Link to="/approvals">All {waiting.length} that wait</Link>
          </p>
        )}
        {newest.data !== undefined && <Runs items={newest.data.items} />}
      </div>
    </Page>
  )
}

function Today() {
  const now = useNow()
  return (
    <span className={styles.today}>
      {now.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })}
    </span>
  )
}

/** Runs by what they are about; those that wait for a person stand above already. */
function Runs({ items }: { items: RunSummary[] }) {
  const live = items.filter((run) => run.archived_by === null)
  const failed = live.filter((run) => hasFailed(run))
  const open = live.filter(
    (run) => ['in_progress', 'paused', 'not_started'].includes(run.status) && !failed.includes(run),
  )
  const going = open.filter((run) => run.waiting === 0 && !onlyWaitsForAStart(run))
  const rest = live.filter((run) => !open.includes(run) && !failed.includes(run)).slice(0, MOST)
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
    </>
  )
}
