import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type ApprovalFilter, approvalPages } from '~/api/approvals'
import { useRoles } from '~/api/session'
import { canDecide } from '~/lib/states'
import { byUrgency } from '~/lib/waiting'
import { BottomBar } from '~/ui/BottomBar'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { approvalItem, type PendingItem, PendingRows } from '~/ui/PendingRows'
import { LoadError } from '~/ui/ProblemNotice'
import { pendingTitle, usePendingItems } from '~/ui/usePendingItems'
import { ApprovalFilters } from './ApprovalFilters'
import styles from './ApprovalsPage.module.css'
import { BatchDialog } from './BatchDialog'
import { canBatch, isSameDecision } from './batch'
import { useListShortcuts } from './useListShortcuts'

const route = getRouteApi('/approvals')

const isFiltered = ({ kind, risk, pipeline, everybody }: ApprovalFilter) =>
  kind !== undefined || risk !== undefined || pipeline !== undefined || everybody === true

/** All pending approvals and manual starts. Similar approvals can be decided together. */
export function ApprovalsPage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { items: waiting, hasMore, error: waitingError } = usePendingItems()
  const pages = useInfiniteQuery(approvalPages(filter))
  const filtered = isFiltered(filter)
  const items = useMemo(() => {
    if (pages.data === undefined) return undefined
    const approvals = pages.data.pages.flatMap((page) => page.items).map(approvalItem)
    const manualStarts = filtered ? [] : (waiting ?? []).filter((item) => item.approval === null)
    return (filter.sort ?? 'deadline') === 'deadline'
      ? [...approvals, ...manualStarts].sort(byUrgency)
      : [...approvals, ...manualStarts]
  }, [pages.data, waiting, filtered, filter.sort])
  const error = pages.error ?? waitingError
  const selection = useSelection(items ?? [])
  useListShortcuts(items ?? [], selection.toggle)

  return (
    <Page fullBleed title="Approvals">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.scroll} tabIndex={0} aria-label="Approvals">
        <div className={styles.body}>
          <h1>{pendingTitle(waiting, hasMore, 'Approvals')}</h1>
          <ApprovalFilters
            filter={filter}
            onFilter={(next) => void navigate({ search: next, replace: true })}
            filtered={filtered}
          />
          {error !== null && (
            <LoadError title="Couldn't load approvals." error={error} retry={() => void pages.refetch()} />
          )}
          <Panel ochre={items !== undefined && items.length > 0}>
            {items === undefined ? (
              error === null && <LoadingRows label="Loading approvals" />
            ) : items.length === 0 ? (
              <NoApprovals filtered={filtered} onAll={() => void navigate({ search: {}, replace: true })} />
            ) : (
              <PendingRows items={items} selection={selection.rowSelection} />
            )}
          </Panel>
          {pages.hasNextPage && (
            <Button
              className={styles.more}
              loading={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              Show more
            </Button>
          )}
        </div>
      </section>
      <SelectionBar {...selection} />
    </Page>
  )
}

function NoApprovals({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  return filtered ? (
    <EmptyState
      title="No approvals match the filters"
      action={<Button onClick={onAll}>Show all approvals</Button>}
    />
  ) : (
    <EmptyState
      title="No approvals waiting"
      action={<Button renderRoot={(props) => <Link to="/runs" {...props} />}>View runs</Button>}
    >
      Runs that need a form, a decision or a manual start appear here.
    </EmptyState>
  )
}

/** The selected rows. They are always similar, so that one decision applies to all. */
function useSelection(items: readonly PendingItem[]) {
  const allowed = canDecide(useRoles())
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  // Drops approvals that were decided in the meantime.
  const selected = items.filter((item) => ids.has(item.id))
  const first = selected[0]
  const canSelect = (item: PendingItem) =>
    allowed && canBatch(item) && (first === undefined || isSameDecision(first, item))
  const sameDecision = first === undefined ? [] : items.filter(canSelect)
  const toggle = (item: PendingItem, isChosen = !ids.has(item.id)) => {
    if (!canSelect(item)) return
    const next = new Set(selected.map(({ id }) => id))
    if (isChosen) next.add(item.id)
    else next.delete(item.id)
    setIds(next)
  }
  return {
    selected,
    sameDecision,
    toggle,
    selectAll: () => setIds(new Set(sameDecision.map(({ id }) => id))),
    clear: () => setIds(new Set()),
    rowSelection: allowed
      ? { selected: new Set(selected.map(({ id }) => id)), canSelect, onSelect: toggle }
      : undefined,
  }
}

function SelectionBar({ selected, sameDecision, selectAll, clear }: ReturnType<typeof useSelection>) {
  const [decision, setDecision] = useState<'approve' | 'reject' | null>(null)
  // The dialog keeps the approvals it was opened with, even when they leave the list.
  const [confirming, setConfirming] = useState<readonly PendingItem[]>([])
  const confirm = (next: 'approve' | 'reject') => {
    setConfirming(selected)
    setDecision(next)
  }
  const canReject = selected.every((item) => item.approval?.available_decisions.includes('reject'))
  return (
    <>
      {selected.length > 0 && (
        <BottomBar
          state={{ tone: 'ochre', icon: 'person', label: '' }}
          title={`${selected.length} selected`}
          detail={
            sameDecision.length > selected.length
              ? `${sameDecision.length - selected.length} more can be decided together`
              : 'All similar approvals are selected'
          }
          actions={
            <>
              <Button variant="subtle" size="md" onClick={clear}>
                Clear selection
              </Button>
              {sameDecision.length > selected.length && (
                <Button size="md" onClick={selectAll}>
                  Select all {sameDecision.length}
                </Button>
              )}
              {canReject && (
                <Button size="md" variant="subtle" color="red" onClick={() => confirm('reject')}>
                  Reject {selected.length}…
                </Button>
              )}
              <Button size="md" variant="filled" onClick={() => confirm('approve')}>
                Approve {selected.length}…
              </Button>
            </>
          }
        />
      )}
      <BatchDialog
        key={`${decision}${confirming.map(({ id }) => id).join()}`}
        items={confirming}
        decision={decision}
        onClose={() => setDecision(null)}
        onDone={() => {
          setDecision(null)
          clear()
        }}
      />
    </>
  )
}
