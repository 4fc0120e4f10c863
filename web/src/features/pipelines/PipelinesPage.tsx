import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { pipelines } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { PipelineSummary } from '~/api/types'
import { count } from '~/lib/formatting'
import { useKeys } from '~/lib/shortcuts'
import { hasFailed, mayEdit } from '~/lib/states'
import { Empty } from '~/ui/EmptyState'
import { Kbd } from '~/ui/KeyHint'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import { PipelineRows } from './PipelineRows'
import styles from './PipelinesPage.module.css'

const FILTERS: { value: string; label: string; holds: (item: PipelineSummary) => boolean }[] = [
  { value: 'all', label: 'All', holds: () => true },
  { value: 'waiting', label: 'Waiting', holds: (item) => item.waiting > 0 },
  { value: 'running', label: 'Running', holds: (item) => item.latest_run?.status === 'in_progress' },
  {
    value: 'failed',
    label: 'Failed',
    holds: (item) => item.latest_run !== null && hasFailed(item.latest_run),
  },
  { value: 'deleted', label: 'Deleted', holds: () => true },
]

/** All pipelines, the last active first. */
export function ListPage() {
  const navigate = useNavigate()
  const allowed = mayEdit(useRoles())
  const [shown, setShown] = useState('all')
  const [search, setSearch] = useState('')
  const box = useRef<HTMLInputElement>(null)
  const { data, error, refetch } = useQuery(pipelines(shown === 'deleted'))
  useKeys(
    useMemo(
      () => ({
        '/': () => box.current?.focus(),
        c: () => void navigate({ to: '/pipelines/new' }),
      }),
      [navigate],
    ),
  )
  const items = data?.items ?? []
  const found = items
    .filter(FILTERS.find((filter) => filter.value === shown)?.holds ?? (() => true))
    .filter((item) => item.pipeline_name.toLowerCase().includes(search.trim().toLowerCase()))
    .toSorted((one, other) => activity(other).localeCompare(activity(one)))
  return (
    <Page
      title="Pipelines"
      actions={
        allowed && (
          <Button
            variant="filled"
            leftSection={<IconPlus size={16} />}
            renderRoot={(props) => <Link to="/pipelines/new" {...props} />}
          >
            New pipeline
            <Kbd>C</Kbd>
          </Button>
        )
      }
    >
      <h1 className="unseen">Pipelines</h1>
      <div className={styles.tools}>
        <TextInput
          ref={box}
          className={styles.search}
          aria-label="Search pipelines"
          placeholder={`Search ${count(items.length, 'pipeline')}`}
          leftSection={<IconSearch size={16} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <SegmentedControl
          className={styles.filter}
          aria-label="Show pipelines"
          value={shown}
          onChange={setShown}
          data={FILTERS.map(({ value, label }) => ({ value, label }))}
        />
      </div>
      {error !== null ? (
        <Failure what="The pipelines could not be read." error={error} retry={() => void refetch()} />
      ) : (
        <Panel>
          {data === undefined ? (
            <LoadingRows label="Loading pipelines" />
          ) : found.length === 0 ? (
            <None
              filtered={items.length > 0 || shown !== 'all'}
              deleted={shown === 'deleted'}
              allowed={allowed}
            />
          ) : (
            <PipelineRows pipelines={found} allowed={allowed} />
          )}
        </Panel>
      )}
    </Page>
  )
}

const activity = (item: PipelineSummary) =>
  item.latest_run?.started_at ?? item.latest_run?.created_at ?? item.updated_at

function None({ filtered, deleted, allowed }: { filtered: boolean; deleted: boolean; allowed: boolean }) {
  if (deleted)
    return <Empty title="Nothing is deleted">A deleted pipeline can be brought back from here.</Empty>
  if (filtered) return <Empty title="No pipeline matches">Try another word, or show all.</Empty>
  return (
    <Empty
      title="No pipelines yet"
      action={
        allowed && (
          <Button variant="filled" renderRoot={(props) => <Link to="/pipelines/new" {...props} />}>
            New pipeline
          </Button>
        )
      }
    >
      Begin with a template, or write one in YAML.
    </Empty>
  )
}
