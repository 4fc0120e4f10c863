import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ApprovalFilter, ApprovalSort } from '~/api/approvals'
import { pipelines } from '~/api/queries'
import type { ApprovalKind, RiskLevel } from '~/api/types'
import { SelectField } from '~/ui/SelectField'
import styles from './ApprovalsPage.module.css'

const KINDS: Record<ApprovalKind, string> = {
  action: 'Actions',
  outcome: 'Unknown outcomes',
  completion: 'Results',
  start: 'Starts',
  input: 'Forms',
  validation: 'Validations',
  escalation: 'Escalations',
}
const RISKS: Record<RiskLevel, string> = { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low' }
const SORTS: Record<ApprovalSort, string> = {
  deadline: 'Most urgent first',
  age: 'Oldest first',
  risk: 'Highest risk first',
  priority: 'Highest priority first',
}

const options = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))
const ANY = ''

type Props = { filter: ApprovalFilter; filtered: boolean; onFilter: (filter: ApprovalFilter) => void }

/** Filters and sort order of the approvals. */
export function ApprovalFilters({ filter, filtered, onFilter }: Props) {
  const { data } = useQuery(pipelines())
  const set = (change: Partial<ApprovalFilter>) => onFilter({ ...filter, ...change })
  return (
    <search className={styles.filters}>
      <SelectField
        label="Kind"
        value={filter.kind ?? ANY}
        options={[{ value: ANY, label: 'Any kind' }, ...options(KINDS)]}
        onChange={(kind) => set({ kind: kind === ANY ? undefined : (kind as ApprovalKind) })}
      />
      <SelectField
        label="Risk"
        value={filter.risk ?? ANY}
        options={[{ value: ANY, label: 'Any risk' }, ...options(RISKS)]}
        onChange={(risk) => set({ risk: risk === ANY ? undefined : (risk as RiskLevel) })}
      />
      <SelectField
        label="Pipeline"
        value={filter.pipeline ?? ANY}
        options={[
          { value: ANY, label: 'Any pipeline' },
          ...(data?.items ?? []).map((one) => ({ value: one.pipeline_id, label: one.pipeline_name })),
        ]}
        onChange={(pipeline) => set({ pipeline: pipeline === ANY ? undefined : pipeline })}
      />
      <SelectField
        label="Sort by"
        value={filter.sort ?? 'deadline'}
        options={options(SORTS)}
        onChange={(sort) => set({ sort: sort === 'deadline' ? undefined : (sort as ApprovalSort) })}
      />
      <Checkbox
        size="xs"
        label="Include approvals assigned to others"
        checked={filter.everybody === true}
        onChange={(event) => set({ everybody: event.currentTarget.checked || undefined })}
      />
      {filtered && (
        <Button variant="subtle" onClick={() => onFilter({ sort: filter.sort })}>
          Clear filters
        </Button>
      )}
    </search>
  )
}
