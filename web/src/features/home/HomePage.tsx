import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pipelines, runs } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { RunSummary } from '~/api/types'
import { canEdit, hasFailed } from '~/lib/states'
import { needsManualStart } from '~/lib/waiting'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel, Section } from '~/ui/Page'
import { PendingRows } from '~/ui/PendingRows'
import { LoadError } from '~/ui/ProblemNotice'
import { RunRows } from '~/ui/RunRows'
import { useNow } from '~/ui/Time'
import { NEWEST_RUNS, pendingTitle, usePendingItems } from '~/ui/usePendingItems'
import { FailedRuns } from './FailedRuns'
import { FirstRun } from './FirstRun'
import styles from './Home.module.css'

const MAX_ROWS = 6

/** Pending items, runs in progress and failed runs. */
export function HomePage() {
  const { items: pending, hasMore, error, refetch } = usePendingItems()
  const newestRuns = useQuery(runs(NEWEST_RUNS))
  const allPipelines = useQuery(pipelines())
  const allowed = canEdit(useRoles())
  if (allPipelines.data?.items.length === 0 && newestRuns.data?.items.length === 0) {
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
          <h1>{pendingTitle(pending, hasMore, 'Home')}</h1>
          <Today />
        </div>
        {error !== null && <LoadError title="Couldn't load the home page." error={error} retry={refetch} />}
        {pending === undefined && error === null && (
          <Panel>
            <LoadingRows rows={3} />
          </Panel>
        )}
        {pending !== undefined && pending.length > 0 && (
          <Panel ochre>
            <PendingRows items={pending.slice(0, MAX_ROWS)} />
          </Panel>
        )}
        {pending !== undefined && pending.length > MAX_ROWS && (
          <p className={styles.more}>
            <Link to="/approvals">View all {pending.length}</Link>
          </p>
        )}
        {newestRuns.data !== undefined && <Runs items={newestRuns.data.items} />}
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

/** Runs by status. Runs that wait for a person are already listed above. */
function Runs({ items }: { items: RunSummary[] }) {
  const current = items.filter((run) => run.archived_by === null)
  const failed = current.filter((run) => hasFailed(run))
  const open = current.filter(
    (run) => ['in_progress', 'paused', 'not_started'].includes(run.status) && !failed.includes(run),
  )
  const running = open.filter((run) => run.pending_approval_count === 0 && !needsManualStart(run))
  const recent = current.filter((run) => !open.includes(run) && !failed.includes(run)).slice(0, MAX_ROWS)
  if (current.length === 0) {
    return (
      <Panel>
        <EmptyState
          title="No runs yet"
          action={
            <Button variant="filled" renderRoot={(props) => <Link to="/pipelines" {...props} />}>
              View pipelines
            </Button>
          }
        >
          Your pipelines are ready. The first run will be v1.
        </EmptyState>
      </Panel>
    )
  }
  return (
    <>
      {running.length > 0 && (
        <Section title="In progress" count={running.length} aside={<Link to="/runs">View all runs</Link>}>
          <Panel>
            <RunRows runs={running.slice(0, MAX_ROWS)} />
          </Panel>
        </Section>
      )}
      {failed.length > 0 && <FailedRuns runs={failed.slice(0, MAX_ROWS)} />}
      {recent.length > 0 && (
        <Section title="Recent runs" aside={running.length === 0 && <Link to="/runs">View all runs</Link>}>
          <Panel>
            <RunRows runs={recent} />
          </Panel>
        </Section>
      )}
    </>
  )
}
