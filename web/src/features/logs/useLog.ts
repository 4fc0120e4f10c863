import { useCallback, useEffect, useState } from 'react'
import { hear } from '~/api/live'
import { logPage } from '~/api/queries'
import { type LogFilter, levelsFrom, matches } from '~/lib/logs'
import { type Log, openLog } from './logStore'

type Open = ReturnType<typeof openLog>

/** The log of an execution, live, as far as it passes the filter. */
export function useLog(
  runId: string,
  executionId: string,
  { from, search }: LogFilter,
): Log & { readOlder: () => void; again: () => void } {
  const [open, setOpen] = useState<Open | null>(null)
  const [, draw] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const log = openLog(
      (ask) => logPage(executionId, { ...ask, level: levelsFrom(from), search }, stop.signal),
      () => draw((times) => times + 1),
    )
    setOpen(log)
    void log.begin()
    const deaf = hear(runId, {
      onLines: (lines) =>
        log.hear(
          lines.filter((line) => line.execution_id === executionId && matches(line, { from, search })),
        ),
      onOpen: () => void log.catchUp(),
    })
    return () => {
      log.close()
      stop.abort()
      deaf()
    }
  }, [runId, executionId, from, search])
  const readOlder = useCallback(() => void open?.readOlder(), [open])
  const again = useCallback(
    () => void (open?.get().lines === undefined ? open?.begin() : open?.readOlder()),
    [open],
  )
  const now = open?.get() ?? { lines: undefined, older: false, loadingOlder: false, error: null }
  return { ...now, readOlder, again }
}
