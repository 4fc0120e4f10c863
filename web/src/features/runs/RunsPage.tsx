import { Button, SegmentedControl } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { runPages } from '~/api/queries'
import type { RunStatus } from '~/api/types'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { RunRows } from '~/ui/RunRows'
import styles from './RunsPage.module.css'

const route = getRouteApi('/runs')
const STATUS_OPTIONS: { value: RunStatus | ''; label: string }[] = [
  { value: '', label: 'All' },
  { value: 'in_progress', label: 'Running' },
  { value: 'paused', label: 'Paused' },
  { value: 'failed', label: 'Failed' },
  { value: 'completed', label: 'Completed' },
]

/** All runs, newest first. */
export function RunsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const status = STATUS_OPTIONS.find((state) => state.value === search.status)?.value || undefined
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    runPages(status),
  )
  const runs = data?.pages.flatMap((page) => page.items)
  return (
    <Page title="Runs">
      <div className={styles.head}>
        <h1>Runs</h1>
        <SegmentedControl
          className={styles.filter}
          aria-label="Filter runs by status"
          value={status ?? ''}
          onChange={(value) => void navigate({ search: { status: value || undefined }, replace: true })}
          data={STATUS_OPTIONS}
        />
      </div>
      {error !== null ? (
        <LoadError title="Couldn't load runs." error={error} retry={() => void refetch()} />
      ) : (
        <Panel>
          {runs === undefined ? (
            <LoadingRows label="Loading runs" />
          ) : runs.length === 0 ? (
            <EmptyState
              title={status === undefined ? 'No runs yet' : 'No runs found'}
              action={
                <Button renderRoot={(props) => <Link to="/pipelines" {...props} />}>View pipelines</Button>
              }
            >
              Start a run from the page of its pipeline.
            </EmptyState>
          ) : (
            <RunRows runs={runs} />
          )}
        </Panel>
      )}
      {hasNextPage && (
        <Button className={styles.older} loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load older runs
        </Button>
      )}
    </Page>
  )
}
