import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { pipelines } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { PipelineSummary } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { useShortcuts } from '~/lib/shortcuts'
import { canEdit, hasFailed } from '~/lib/states'
import { EmptyState } from '~/ui/EmptyState'
import { KeyHint } from '~/ui/KeyHint'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { PipelineRows } from './PipelineRows'
import styles from './PipelinesPage.module.css'

const FILTERS: { value: string; label: string; matches: (item: PipelineSummary) => boolean }[] = [
  { value: 'all', label: 'All', matches: () => true },
  { value: 'waiting', label: 'Waiting', matches: (item) => item.pending_approval_count > 0 },
  { value: 'running', label: 'Running', matches: (item) => item.latest_run?.status === 'in_progress' },
  {
    value: 'failed',
    label: 'Failed',
    matches: (item) => item.latest_run !== null && hasFailed(item.latest_run),
  },
  { value: 'deleted', label: 'Deleted', matches: () => true },
]

/** All pipelines, most recently active first. */
export function PipelinesPage() {
  const navigate = useNavigate()
  const allowed = canEdit(useRoles())
  const [filter, setFilter] = useState('all')
  const [search, setSearch] = useState('')
  const searchRef = useRef<HTMLInputElement>(null)
  const { data, error, refetch } = useQuery(pipelines(filter === 'deleted'))
  useShortcuts(
    useMemo(
      () => ({
        '/': () => searchRef.current?.focus(),
        c: () => void navigate({ to: '/pipelines/new' }),
      }),
      [navigate],
    ),
  )
  const items = data?.items ?? []
  const found = items
    .filter(FILTERS.find(({ value }) => value === filter)?.matches ?? (() => true))
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
            <KeyHint>C</KeyHint>
          </Button>
        )
      }
    >
      <h1 className="unseen">Pipelines</h1>
      <div className={styles.tools}>
        <TextInput
          ref={searchRef}
          className={styles.search}
          aria-label="Search pipelines"
          placeholder={`Search ${pluralize(items.length, 'pipeline')}`}
          leftSection={<IconSearch size={16} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <SegmentedControl
          className={styles.filter}
          aria-label="Filter pipelines"
          value={filter}
          onChange={setFilter}
          data={FILTERS.map(({ value, label }) => ({ value, label }))}
        />
      </div>
      {error !== null ? (
        <LoadError title="Couldn't load pipelines." error={error} retry={() => void refetch()} />
      ) : (
        <Panel>
          {data === undefined ? (
            <LoadingRows label="Loading pipelines" />
          ) : found.length === 0 ? (
            <NoPipelines
              filtered={items.length > 0 || filter !== 'all'}
              deleted={filter === 'deleted'}
              canEdit={allowed}
            />
          ) : (
            <PipelineRows pipelines={found} canEdit={allowed} />
          )}
        </Panel>
      )}
    </Page>
  )
}

const activity = (item: PipelineSummary) =>
  item.latest_run?.started_at ?? item.latest_run?.created_at ?? item.updated_at

function NoPipelines({
  filtered,
  deleted,
  canEdit: allowed,
}: {
  filtered: boolean
  deleted: boolean
  canEdit: boolean
}) {
  if (deleted)
    return <EmptyState title="No deleted pipelines">You can restore deleted pipelines here.</EmptyState>
  if (filtered) return <EmptyState title="No pipelines found">Try another search or filter.</EmptyState>
  return (
    <EmptyState
      title="No pipelines yet"
      action={
        allowed && (
          <Button variant="filled" renderRoot={(props) => <Link to="/pipelines/new" {...props} />}>
            New pipeline
          </Button>
        )
      }
    >
      Start from a template or write YAML.
    </EmptyState>
  )
}
