import { useQuery } from '@tanstack/react-query'
import { emergencyStopHistory } from '~/api/rules'
import { formatDateTime } from '~/lib/durations'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'

/** The history of emergency stops. */
export function EmergencyStopHistory() {
  const { data, error, refetch } = useQuery(emergencyStopHistory())
  if (error !== null)
    return <LoadError title="Couldn't load emergency stops." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={2} label="Loading emergency stops" />
  if (data.items.length === 0) return <EmptyState title="No emergency stops" />
  return (
    <DataTable
      label="Emergency stops"
      columns={COLUMNS}
      rows={data.items.map((item) => ({
        key: `${item.at}${item.stopped}`,
        cells: [
          <strong key="what">{item.stopped ? 'Stopped' : 'Lifted'}</strong>,
          item.by ?? '',
          item.reason,
          item.at === null ? '' : formatDateTime(item.at),
        ],
      }))}
    />
  )
}

const COLUMNS = [
  { title: 'Action', width: '110px', untitled: true },
  { title: 'By', width: 'minmax(0, 1fr)' },
  { title: 'Reason', width: 'minmax(0, 2fr)' },
  { title: 'Time', width: '190px', alignEnd: true },
]
