import { useEffect, useState } from 'react'
import styles from './Loading.module.css'

/** True after 300 ms, so that fast responses don't flash a placeholder. */
function useDelayed(): boolean {
  const [delayed, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return delayed
}

/** Placeholder rows for a list. */
export function LoadingRows({ rows = 4, label = 'Loading' }: { rows?: number; label?: string }) {
  const delayed = useDelayed()
  return (
    <div className={styles.rows} role="status" aria-label={label} data-delayed={delayed || undefined}>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <div key={index} className={styles.row}>
          <span className={styles.bar} style={{ width: `${28 - (index % 3) * 6}%` }} />
          <span className={styles.dots}>
            <i />
            <i />
            <i />
            <i />
          </span>
          <span className={styles.bar} style={{ width: `${34 - (index % 2) * 9}%` }} />
        </div>
      ))}
    </div>
  )
}

/** Placeholder lines for a text. */
export function LoadingText({ lines = 3 }: { lines?: number }) {
  const delayed = useDelayed()
  return (
    <div className={styles.text} role="status" aria-label="Loading" data-delayed={delayed || undefined}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike.
        <span key={index} className={styles.bar} style={{ width: `${90 - index * 13}%` }} />
      ))}
    </div>
  )
}
