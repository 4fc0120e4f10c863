import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { formatDateTime, timeAgo } from '~/lib/durations'

const listeners = new Set<(now: Date) => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One timer for the whole page. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    listeners.add(setNow)
    timer ??= setInterval(() => {
      const next = new Date()
      for (const listener of listeners) listener(next)
    }, 1000)
    return () => {
      listeners.delete(setNow)
      if (listeners.size === 0) {
        clearInterval(timer)
        timer = undefined
      }
    }
  }, [])
  return now
}

/** A relative time, with the full date and time on hover. */
export function Time({ at }: { at: string }) {
  const now = useNow()
  return (
    <Tooltip label={formatDateTime(at)}>
      <time dateTime={at}>{timeAgo(at, now)}</time>
    </Tooltip>
  )
}
