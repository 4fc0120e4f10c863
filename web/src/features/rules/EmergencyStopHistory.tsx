import { useQuery } from '@tanstack/react-query'
import { emergencyStops } from '~/api/rules'
import { exact } from '~/lib/durations'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'

/** Every emergency stop and every end of one. */
export function Stops() {
  const { data, error, refetch } = useQuery(emergencyStops())
  if (error !== null)
    return <Failure what="The stops could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={2} label="Loading the stops" />
  if (data.items.length === 0) return <Empty title="Automatic approvals were never stopped" />
  return (
    <Sheet
      label="Emergency stops"
      columns={COLUMNS}
      rows={data.items.map((item) => ({
        key: `${item.at}${item.stopped}`,
        cells: [
          <strong key="what">{item.stopped ? 'Stopped' : 'Went on'}</strong>,
          item.by ?? '',
          item.reason,
          item.at === null ? '' : exact(item.at),
        ],
      }))}
    />
  )
}

const COLUMNS = [
  { title: 'What', width: '110px', bare: true },
  { title: 'By', width: 'minmax(0, 1fr)' },
  { title: 'Why', width: 'minmax(0, 2fr)' },
  { title: 'When', width: '190px', end: true },
]
