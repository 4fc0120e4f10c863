import { useQueries } from '@tanstack/react-query'
import { run as runQuery } from '~/api/queries'
import type { RunSummary } from '~/api/types'
import { toStart, type Waiting } from '~/ui/WaitingRows'

const MOST = 10

/** What waits for a start by hand. A list of runs does not tell it, so that the newest open runs are read whole. */
export function useToStart(runs: readonly RunSummary[]): Waiting[] {
  const open = runs.filter((run) => run.status === 'in_progress' && run.waiting === 0).slice(0, MOST)
  return useQueries({
    queries: open.map((run) => runQuery(run.run_id)),
    combine: (results) => results.flatMap(({ data }) => (data === undefined ? [] : toStart(data))),
  })
}
