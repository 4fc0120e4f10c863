import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { logs } from '~/api/queries'
import { second } from '~/lib/durations'
import { Failure } from '~/ui/Failure'
import { LoadingText } from '~/ui/Loading'
import styles from './LogView.module.css'

/** The log of an execution. It follows the newest line until somebody scrolls up to read. */
export function LogView({ runId, executionId }: { runId: string; executionId: string }) {
  const { data, error, refetch } = useQuery(logs(runId, executionId))
  const box = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  const [seen, setSeen] = useState(0)
  const total = data?.lines.length ?? 0
  useEffect(() => {
    if (!following || total === 0) return
    box.current?.scrollTo({ top: box.current.scrollHeight })
    setSeen(total)
  }, [following, total])

  if (error !== null)
    return <Failure what="The log could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  if (total === 0) return <p className={styles.none}>Nothing is logged yet.</p>
  const follow = () => {
    const at = box.current
    if (at !== null) setFollowing(at.scrollHeight - at.scrollTop - at.clientHeight < 24)
  }
  return (
    <div className={styles.frame}>
      {data.more && <p className={styles.none}>The log is longer; these are its first {total} lines.</p>}
      <div
        ref={box}
        className={styles.log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label="Log"
        aria-live="off"
        onScroll={follow}
      >
        {data.lines.map((line) => (
          <div key={line.log_id} className={styles.line} data-level={line.level.toLowerCase()}>
            <time dateTime={line.timestamp}>{second(line.timestamp)}</time>
            <span className={styles.level}>{line.level.toLowerCase()}</span>
            <span className={styles.message}>{line.message}</span>
          </div>
        ))}
      </div>
      {!following && total > seen && (
        <Button className={styles.fresh} onClick={() => setFollowing(true)}>
          {total - seen} new
        </Button>
      )}
    </div>
  )
}
