import { useQuery } from '@tanstack/react-query'
import { pendingApprovals } from '~/api/approvals'
import { runs } from '~/api/queries'
import { useRoles } from '~/api/session'
import { pluralizeAtLeast } from '~/lib/formatting'
import { canEdit } from '~/lib/states'
import { byUrgency } from '~/lib/waiting'
import { approvalItem, manualStartItems, type PendingItem } from './PendingRows'

export const NEWEST_RUNS = 30

/** Approvals and manual starts that wait for the current user, most urgent first. */
export function usePendingItems() {
  const approvals = useQuery(pendingApprovals())
  const newestRuns = useQuery(runs(NEWEST_RUNS))
  const allowed = canEdit(useRoles())
  const items: PendingItem[] | undefined =
    approvals.data &&
    [
      ...approvals.data.items.map(approvalItem),
      ...(allowed ? (newestRuns.data?.items ?? []).flatMap(manualStartItems) : []),
    ].sort(byUrgency)
  return {
    items,
    /** Whether there are more than the loaded ones. */
    hasMore: approvals.data?.next_cursor != null,
    error: approvals.error ?? newestRuns.error,
    refetch: () => {
      void approvals.refetch()
      void newestRuns.refetch()
    },
  }
}

export function pendingTitle(
  items: readonly PendingItem[] | undefined,
  hasMore: boolean,
  fallback: string,
): string {
  if (items === undefined) return fallback
  if (items.length === 0) return 'Nothing is waiting for you'
  const noun = items.every((item) => item.approval !== null) ? 'approval' : 'item'
  return `${pluralizeAtLeast(items.length, hasMore, noun)} waiting for you`
}
