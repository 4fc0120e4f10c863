import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type ApprovalFilter, queue } from '~/api/approvals'
import { useRoles } from '~/api/session'
import { mayDecide } from '~/lib/states'
import { byUrgency } from '~/lib/waiting'
import { Bar } from '~/ui/BottomBar'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { ofApproval, type Waiting, WaitingRows } from '~/ui/PendingRows'
import { Failure } from '~/ui/ProblemNotice'
import { useWaiting, waitingWords } from '~/ui/usePendingItems'
import { Filters } from './ApprovalFilters'
import styles from './ApprovalsPage.module.css'
import { BatchDialog } from './BatchDialog'
import { isAlike, mayBeChosen } from './batch'
import { useRowKeys } from './useListShortcuts'

const route = getRouteApi('/approvals')

const isFiltered = ({ kind, risk, pipeline, everybody }: ApprovalFilter) =>
  kind !== undefined || risk !== undefined || pipeline !== undefined || everybody === true

/** Everything that waits for a person, the most urgent first; like ones are decided together. */
export function InboxPage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { items: waiting, more, error: waitingError } = useWaiting()
  const asked = useInfiniteQuery(queue(filter))
  const filtered = isFiltered(filter)
  const items = useMemo(() => {
    if (asked.data === undefined) return undefined
    const found = asked.data.pages.flatMap((page) => page.items).map(ofApproval)
    const byHand = filtered ? [] : (waiting ?? []).filter((item) => item.approval === null)
    return (filter.sort ?? 'deadline') === 'deadline'
      ? [...found, ...byHand].sort(byUrgency)
      : [...found, ...byHand]
  }, [asked.data, waiting, filtered, filter.sort])
  const error = asked.error ?? waitingError
  const choice = useChoice(items ?? [])
  useRowKeys(items ?? [], choice.toggle)

  return (
    <Page bleed title="Approvals">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.scroll} tabIndex={0} aria-label="Queue">
        <div className={styles.body}>
          <h1>{waitingWords(waiting, more, 'Approvals')}</h1>
          <Filters
            filter={filter}
            onFilter={(next) => void navigate({ search: next, replace: true })}
            filtered={filtered}
          />
          {error !== null && (
            <Failure
              what="The approvals could not be read."
              error={error}
              retry={() => void asked.refetch()}
            />
          )}
          <Panel ochre={items !== undefined && items.length > 0}>
            {items === undefined ? (
              error === null && <LoadingRows label="Loading approvals" />
            ) : items.length === 0 ? (
              <Nothing filtered={filtered} onAll={() => void navigate({ search: {}, replace: true })} />
            ) : (
              <WaitingRows items={items} choosing={choice.choosing} />
            )}
          </Panel>
          {asked.hasNextPage && (
            <Button
              className={styles.more}
              loading={asked.isFetchingNextPage}
              onClick={() => void asked.fetchNextPage()}
            >
              Show more
            </Button>
          )}
        </div>
      </section>
      <ChosenBar {...choice} />
    </Page>
  )
}

function Nothing({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  return filtered ? (
    <Empty title="Nothing like this waits" action={<Button onClick={onAll}>Show all that wait</Button>} />
  ) : (
    <Empty
      title="All decided"
      action={<Button renderRoot={(props) => <Link to="/runs" {...props} />}>See the runs</Button>}
    >
      A run that needs a form filled in, a decision taken or a start by hand shows up here.
    </Empty>
  )
}

/** Which rows are chosen: always like ones, so that one decision fits them all. */
function useChoice(items: readonly Waiting[]) {
  const allowed = mayDecide(useRoles())
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  // What was decided meanwhile is not chosen any more.
  const chosen = items.filter((item) => ids.has(item.id))
  const first = chosen[0]
  const fits = (item: Waiting) =>
    allowed && mayBeChosen(item) && (first === undefined || isAlike(first, item))
  const alike = first === undefined ? [] : items.filter(fits)
  const toggle = (item: Waiting, isChosen = !ids.has(item.id)) => {
    if (!fits(item)) return
    const next = new Set(chosen.map(({ id }) => id))
    if (isChosen) next.add(item.id)
    else next.delete(item.id)
    setIds(next)
  }
  return {
    chosen,
    alike,
    toggle,
    chooseAll: () => setIds(new Set(alike.map(({ id }) => id))),
    drop: () => setIds(new Set()),
    choosing: allowed
      ? { chosen: new Set(chosen.map(({ id }) => id)), mayChoose: fits, onChoose: toggle }
      : undefined,
  }
}

function ChosenBar({ chosen, alike, chooseAll, drop }: ReturnType<typeof useChoice>) {
  const [decision, setDecision] = useState<'approve' | 'reject' | null>(null)
  // A dialog goes on showing what it was opened with, also when rows leave the queue below it.
  const [asked, setAsked] = useState<readonly Waiting[]>([])
  const ask = (next: 'approve' | 'reject') => {
    setAsked(chosen)
    setDecision(next)
  }
  const mayReject = chosen.every((item) => item.approval?.possible.includes('reject'))
  return (
    <>
      {chosen.length > 0 && (
        <Bar
          state={{ tone: 'ochre', sign: 'person', word: '' }}
          title={`${chosen.length} chosen`}
          detail={
            alike.length > chosen.length
              ? `${alike.length - chosen.length} more like ${chosen.length === 1 ? 'this' : 'these'}`
              : 'All that are like this'
          }
          actions={
            <>
              <Button variant="subtle" size="md" onClick={drop}>
                Choose none
              </Button>
              {alike.length > chosen.length && (
                <Button size="md" onClick={chooseAll}>
                  Choose all {alike.length}
                </Button>
              )}
              {mayReject && (
                <Button size="md" variant="subtle" color="red" onClick={() => ask('reject')}>
                  Reject {chosen.length}…
                </Button>
              )}
              <Button size="md" variant="filled" onClick={() => ask('approve')}>
                Approve {chosen.length}…
              </Button>
            </>
          }
        />
      )}
      <BatchDialog
        key={`${decision}${asked.map(({ id }) => id).join()}`}
        items={asked}
        decision={decision}
        onClose={() => setDecision(null)}
        onDone={() => {
          setDecision(null)
          drop()
        }}
      />
    </>
  )
}
