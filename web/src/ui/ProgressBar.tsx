import { formatPercent } from '~/lib/progress'
import styles from './ProgressBar.module.css'

type Props = {
  /** Null where it says no more than a text. */
  fraction: number | null
  text: string | null
  /** What it is the progress of, for those who cannot see where it stands. */
  label: string
  /** Only the bar, where the words stand beside it. */
  barOnly?: boolean
}

/** How far something at work says that it is. */
export function ProgressBar({ fraction, text, label, barOnly = false }: Props) {
  return (
    <div className={styles.progress} data-bare={barOnly || undefined}>
      {fraction !== null && (
        <div
          className={styles.track}
          role="progressbar"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(fraction * 100)}
          aria-valuetext={[formatPercent(fraction), text].filter(Boolean).join(', ')}
        >
          <div className={styles.fill} style={{ width: `${fraction * 100}%` }} />
        </div>
      )}
      {!barOnly && (
        <p className={styles.text}>
          {fraction !== null && <strong>{formatPercent(fraction)}</strong>} {text}
        </p>
      )}
    </div>
  )
}
