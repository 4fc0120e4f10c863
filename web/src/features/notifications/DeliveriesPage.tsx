import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { channels, type DeliveryFilter, deliveries, delivery } from '~/api/notifications'
import type { Delivery, DeliveryStatus, NotificationKind } from '~/api/types'
import { formatDateTime } from '~/lib/durations'
import { DELIVERY_STATES, NOTIFICATION_KINDS, notificationLabel } from '~/lib/notifications'
import { AdminPage } from '~/ui/AdminPage'
import { Code } from '~/ui/Code'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows, LoadingText } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { LoadError } from '~/ui/ProblemNotice'
import { SelectField } from '~/ui/SelectField'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './Notifications.module.css'

/** The log of notification deliveries. */
export function DeliveriesPage() {
  return (
    <AdminPage title="Deliveries">
      <DeliveryLog />
    </AdminPage>
  )
}

function DeliveryLog() {
  const [filter, setFilter] = useState<DeliveryFilter>({})
  const [open, setOpen] = useState<string | null>(null)
  const pages = useInfiniteQuery({ ...deliveries(filter), refetchInterval: 5000 })
  const items = pages.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <div className={styles.sections}>
      <h1>Deliveries</h1>
      <Filters filter={filter} onChange={setFilter} />
      {pages.error !== null ? (
        <LoadError title="Couldn't load deliveries." error={pages.error} retry={() => void pages.refetch()} />
      ) : pages.data === undefined ? (
        <LoadingRows rows={4} label="Loading deliveries" />
      ) : items.length === 0 ? (
        <EmptyState title="No deliveries" />
      ) : (
        <DataTable
          label="Deliveries"
          columns={COLUMNS}
          rows={items.map((item) => ({
            key: item.delivery_id,
            cells: cellsOf(item, open === item.delivery_id, setOpen),
            below: open === item.delivery_id && <Detail item={item} />,
          }))}
        />
      )}
      <LoadMoreButton pages={pages} />
    </div>
  )
}

type FiltersProps = { filter: DeliveryFilter; onChange: (filter: DeliveryFilter) => void }

function Filters({ filter, onChange }: FiltersProps) {
  const { data } = useQuery(channels())
  const any = { value: '', label: 'Any' }
  return (
    <div className={styles.filters}>
      <SelectField
        label="Channel"
        value={filter.channel_id ?? ''}
        options={[any, ...(data?.items ?? []).map((item) => ({ value: item.channel_id, label: item.name }))]}
        onChange={(value) => onChange({ ...filter, channel_id: value || undefined })}
      />
      <SelectField
        label="Status"
        value={filter.status ?? ''}
        options={[
          any,
          ...Object.entries(DELIVERY_STATES).map(([value, state]) => ({ value, label: state.label })),
        ]}
        onChange={(value) =>
          onChange({ ...filter, status: (value || undefined) as DeliveryStatus | undefined })
        }
      />
      <SelectField
        label="Notification"
        value={filter.kind ?? ''}
        options={[any, ...NOTIFICATION_KINDS, { value: 'test', label: 'Test' }]}
        onChange={(value) =>
          onChange({ ...filter, kind: (value || undefined) as NotificationKind | undefined })
        }
      />
    </div>
  )
}

const COLUMNS = [
  { title: 'Notification', width: 'minmax(0, 1.4fr)', untitled: true },
  { title: 'Channel', width: 'minmax(0, 1fr)' },
  { title: 'Status', width: '130px' },
  { title: 'Attempts', width: '72px', alignEnd: true },
  { title: 'Created', width: '96px', alignEnd: true },
]

function cellsOf(item: Delivery, open: boolean, onOpen: (id: string | null) => void) {
  return [
    <button
      key="what"
      type="button"
      className={styles.title}
      aria-expanded={open}
      onClick={() => onOpen(open ? null : item.delivery_id)}
    >
      {notificationLabel(item.kind)}
    </button>,
    <span key="channel">
      {item.channel}
      <p>
        {item.recipient}
        {item.fallback_of !== null && ' (fallback)'}
      </p>
    </span>,
    <span key="state">
      <StateTag state={DELIVERY_STATES[item.status]} />
      {item.possible_duplicate && <p>may be duplicated</p>}
    </span>,
    item.attempt_count,
    <Time key="at" at={item.created_at} />,
  ]
}

/** The attempts of a delivery and its content. */
function Detail({ item }: { item: Delivery }) {
  const { data, error } = useQuery(delivery(item.delivery_id))
  return (
    <div className={`${styles.below} ${styles.detail}`}>
      {error !== null ? (
        <LoadError title="Couldn't load this delivery." error={error} />
      ) : data === undefined ? (
        <LoadingText lines={2} />
      ) : (
        <>
          {data.response !== '' && data.attempts.length === 0 && <p>{data.response}</p>}
          <ol className={styles.attempts} aria-label="Attempts">
            {data.attempts.map((each) => (
              <li key={each.number}>
                Attempt {each.number}, {formatDateTime(each.started_at)}: {outcomeText(each.outcome)}
                {each.response !== '' && `, ${each.response}`}
              </li>
            ))}
          </ol>
          {item.approval_id !== null && (
            <p>
              <Link to="/approvals/$approvalId" params={{ approvalId: item.approval_id }}>
                View approval
              </Link>
            </p>
          )}
          {item.run_id !== null && (
            <p>
              <Link to="/runs/$runId" params={{ runId: item.run_id }}>
                View run
              </Link>
            </p>
          )}
          {data.content !== null && (
            <Code text={JSON.stringify(data.content, null, 2)} label="Content" wrap />
          )}
        </>
      )}
    </div>
  )
}

function outcomeText(outcome: string | null): string {
  if (outcome === null) return 'in progress'
  return outcome === 'sent' ? 'accepted' : outcome === 'not_sent' ? 'not accepted' : 'unknown'
}
