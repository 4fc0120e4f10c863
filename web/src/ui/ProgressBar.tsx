import { formatPercent } from '~/lib/progress'
import styles from './ProgressBar.module.css'

type Props = {
  /** Null if only a text was reported. */
  fraction: number | null
  text: string | null
  /** The accessible name. */
  label: string
  /** Only the bar, without the text. */
  barOnly?: boolean
}

/** The reported progress of a running execution. */
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
