import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Refetches all queries with this key. Queries that are loading for the first time are fetched again afterwards,
 * because the pending response can be older than the change.
 */
export async function refetch(client: QueryClient, queryKey: QueryKey): Promise<void> {
  const initial = client
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter((query) => query.state.data === undefined)
  await client.invalidateQueries({ queryKey })
  await Promise.all(
    initial.map((query) => client.refetchQueries({ queryKey: query.queryKey, exact: true, type: 'active' })),
  )
}
