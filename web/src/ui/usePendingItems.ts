import { useQuery } from '@tanstack/react-query'
import { approvals } from '~/api/approvals'
import { runs } from '~/api/queries'
import { useRoles } from '~/api/session'
import { mayEdit } from '~/lib/states'
import { byUrgency } from '~/lib/waiting'
import { ofApproval, toStart, type Waiting } from './PendingRows'

export const NEWEST_RUNS = 30

/** Everything that waits for whoever looks, the most urgent first: questions, and what only starts by hand. */
export function useWaiting() {
  const asked = useQuery(approvals())
  const newest = useQuery(runs(NEWEST_RUNS))
  const allowed = mayEdit(useRoles())
  const items: Waiting[] | undefined =
    asked.data &&
    [
      ...asked.data.items.map(ofApproval),
      ...(allowed ? (newest.data?.items ?? []).flatMap(toStart) : []),
    ].sort(byUrgency)
  return {
    items,
    /** There are more than are shown. */
    more: asked.data?.next_cursor != null,
    error: asked.error ?? newest.error,
    refetch: () => {
      void asked.refetch()
      void newest.refetch()
    },
  }
}

export function waitingWords(
  items: readonly Waiting[] | undefined,
  more: boolean,
  otherwise: string,
): string {
  if (items === undefined) return otherwise
  if (items.length === 0) return 'Nothing waits for you'
  return `${items.length}${more ? '+' : ''} ${items.length === 1 ? 'thing waits' : 'things wait'} for you`
}
