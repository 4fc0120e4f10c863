import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Has everything under this key read again. What is just being read for the first time is read once more after that: the
 * library would be content with the answer on its way, which may be older than what has happened.
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
