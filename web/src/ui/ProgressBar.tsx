import { percent } from '~/lib/progress'
import styles from './ProgressBar.module.css'

type Props = {
  /** Null where it says no more than a text. */
  fraction: number | null
  text: string | null
  /** What it is the progress of, for those who cannot see where it stands. */
  label: string
  /** Only the bar, where the words stand beside it. */
  bare?: boolean
}

/** How far something at work says that it is. */
export function ProgressBar({ fraction, text, label, bare = false }: Props) {
  return (
    <div className={styles.progress} data-bare={bare || undefined}>
      {fraction !== null && (
        <div
          className={styles.track}
          role="progressbar"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(fraction * 100)}
          aria-valuetext={[percent(fraction), text].filter(Boolean).join(', ')}
        >
          <div className={styles.done} style={{ width: `${fraction * 100}%` }} />
        </div>
      )}
      {!bare && (
        <p className={styles.words}>
          {fraction !== null && <strong>{percent(fraction)}</strong>} {text}
        </p>
      )}
    </div>
  )
}
