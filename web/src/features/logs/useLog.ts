import { useCallback, useEffect, useState } from 'react'
import { subscribeToRun } from '~/api/live'
import { logPage } from '~/api/queries'
import { type LogFilter, levelsAtLeast, matches } from '~/lib/logs'
import { type LogState, openLog } from './logStore'

type Open = ReturnType<typeof openLog>

/** The live log of an execution, filtered. */
export function useLog(
  runId: string,
  executionId: string,
  { minLevel, search }: LogFilter,
): LogState & { readOlder: () => void; retry: () => void } {
  const [open, setOpen] = useState<Open | null>(null)
  const [, redraw] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const log = openLog(
      (ask) => logPage(executionId, { ...ask, level: levelsAtLeast(minLevel), search }, stop.signal),
      () => redraw((times) => times + 1),
    )
    setOpen(log)
    void log.readNewest()
    const unsubscribe = subscribeToRun(runId, {
      onLines: (lines) =>
        log.addLines(
          lines.filter((line) => line.execution_id === executionId && matches(line, { minLevel, search })),
        ),
      onOpen: () => void log.catchUp(),
    })
    return () => {
      log.close()
      stop.abort()
      unsubscribe()
    }
  }, [runId, executionId, minLevel, search])
  const readOlder = useCallback(() => void open?.readOlder(), [open])
  const retry = useCallback(
    () => void (open?.get().lines === undefined ? open?.readNewest() : open?.readOlder()),
    [open],
  )
  const state = open?.get() ?? { lines: undefined, hasOlder: false, loadingOlder: false, error: null }
  return { ...state, readOlder, retry }
}
