import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { channels, type DeliveryFilter, deliveries, delivery } from '~/api/notifications'
import type { Delivery, DeliveryStatus, NoticeKind } from '~/api/types'
import { exact } from '~/lib/durations'
import { DELIVERIES, NOTICES, noticeWords } from '~/lib/notifications'
import { ForAdmins } from '~/ui/AdminPage'
import { Code } from '~/ui/Code'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows, LoadingText } from '~/ui/Loading'
import { More } from '~/ui/LoadMore'
import { Failure } from '~/ui/ProblemNotice'
import { Choice } from '~/ui/SelectField'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './Notifications.module.css'

/** What was sent, and what came of it. */
export function DeliveriesPage() {
  return (
    <ForAdmins title="Deliveries">
      <Log />
    </ForAdmins>
  )
}

function Log() {
  const [filter, setFilter] = useState<DeliveryFilter>({})
  const [open, setOpen] = useState<string | null>(null)
  const found = useInfiniteQuery({ ...deliveries(filter), refetchInterval: 5000 })
  const items = found.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <div className={styles.parts}>
      <h1>Deliveries</h1>
      <Filters filter={filter} onChange={setFilter} />
      {found.error !== null ? (
        <Failure what="The log could not be read." error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <LoadingRows rows={4} label="Loading the deliveries" />
      ) : items.length === 0 ? (
        <Empty title="Nothing was sent" />
      ) : (
        <Sheet
          label="Deliveries"
          columns={COLUMNS}
          rows={items.map((item) => ({
            key: item.delivery_id,
            cells: cellsOf(item, open === item.delivery_id, setOpen),
            below: open === item.delivery_id && <Detail item={item} />,
          }))}
        />
      )}
      <More pages={found} />
    </div>
  )
}

type FiltersProps = { filter: DeliveryFilter; onChange: (filter: DeliveryFilter) => void }

function Filters({ filter, onChange }: FiltersProps) {
  const { data } = useQuery(channels())
  const any = { value: '', label: 'Any' }
  return (
    <div className={styles.filters}>
      <Choice
        label="Channel"
        value={filter.channel_id ?? ''}
        options={[any, ...(data?.items ?? []).map((item) => ({ value: item.channel_id, label: item.name }))]}
        onChange={(value) => onChange({ ...filter, channel_id: value || undefined })}
      />
      <Choice
        label="What came of it"
        value={filter.status ?? ''}
        options={[any, ...Object.entries(DELIVERIES).map(([value, state]) => ({ value, label: state.word }))]}
        onChange={(value) =>
          onChange({ ...filter, status: (value || undefined) as DeliveryStatus | undefined })
        }
      />
      <Choice
        label="Told"
        value={filter.kind ?? ''}
        options={[any, ...NOTICES, { value: 'test', label: 'A test' }]}
        onChange={(value) => onChange({ ...filter, kind: (value || undefined) as NoticeKind | undefined })}
      />
    </div>
  )
}

const COLUMNS = [
  { title: 'Told', width: 'minmax(0, 1.4fr)', bare: true },
  { title: 'Channel', width: 'minmax(0, 1fr)' },
  { title: 'What came of it', width: '130px' },
  { title: 'Tries', width: '50px', end: true },
  { title: 'When', width: '96px', end: true },
]

function cellsOf(item: Delivery, open: boolean, onOpen: (id: string | null) => void) {
  return [
    <button
      key="what"
      type="button"
      className={styles.what}
      aria-expanded={open}
      onClick={() => onOpen(open ? null : item.delivery_id)}
    >
      {noticeWords(item.kind)}
    </button>,
    <span key="channel">
      {item.channel}
      <p>
        {item.recipient}
        {item.fallback_of !== null && ' in place of another'}
      </p>
    </span>,
    <span key="state">
      <StateTag state={DELIVERIES[item.status]} />
      {item.may_be_repeated && <p>may have arrived twice</p>}
    </span>,
    item.tries,
    <Time key="at" at={item.made_at} />,
  ]
}

/** Each try with its answer, and what was told. */
function Detail({ item }: { item: Delivery }) {
  const { data, error } = useQuery(delivery(item.delivery_id))
  return (
    <div className={`${styles.below} ${styles.detail}`}>
      {error !== null ? (
        <Failure what="This delivery could not be read." error={error} />
      ) : data === undefined ? (
        <LoadingText lines={2} />
      ) : (
        <>
          {data.told !== '' && data.history.length === 0 && <p>{data.told}</p>}
          <ol className={styles.tries} aria-label="Tries">
            {data.history.map((each) => (
              <li key={each.number}>
                Try {each.number}, {exact(each.began_at)}: {outcomeWords(each.outcome)}
                {each.told !== '' && `, ${each.told}`}
              </li>
            ))}
          </ol>
          {item.approval_id !== null && (
            <p>
              <Link to="/approvals/$approvalId" params={{ approvalId: item.approval_id }}>
                Open the approval
              </Link>
            </p>
          )}
          {item.run_id !== null && (
            <p>
              <Link to="/runs/$runId" params={{ runId: item.run_id }}>
                Open the run
              </Link>
            </p>
          )}
          {data.content !== null && (
            <Code text={JSON.stringify(data.content, null, 2)} label="What was told" wrap />
          )}
        </>
      )}
    </div>
  )
}

function outcomeWords(outcome: string | null): string {
  if (outcome === null) return 'under way'
  return outcome === 'sent' ? 'taken' : outcome === 'not_sent' ? 'not taken' : 'nobody knows'
}
