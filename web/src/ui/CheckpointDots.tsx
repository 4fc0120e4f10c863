import { type CheckpointDot, dotsLabel } from '~/lib/checkpointDots'
import styles from './CheckpointDots.module.css'

const MAX_DOTS = 24

/** One dot per checkpoint. Many checkpoints are grouped. */
export function CheckpointDots({ dots }: { dots: readonly CheckpointDot[] }) {
  const shown = dots.length > MAX_DOTS ? groupDots(dots) : dots
  return (
    <span className={styles.dots} role="img" aria-label={dotsLabel(dots)}>
      {shown.map((dot, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pebble is its place.
        <span key={index} className={`${styles.dot} ${styles[dot]}`} />
      ))}
    </span>
  )
}

/** Each dot represents several checkpoints and shows the most urgent state. */
function groupDots(dots: readonly CheckpointDot[]): CheckpointDot[] {
  const severity: CheckpointDot[] = ['done', 'open', 'grey', 'blue', 'ochre', 'red']
  const step = dots.length / MAX_DOTS
  return Array.from({ length: MAX_DOTS }, (_, index) =>
    dots
      .slice(Math.floor(index * step), Math.max(Math.floor((index + 1) * step), Math.floor(index * step) + 1))
      .reduce(
        (worst, dot) => (severity.indexOf(dot) > severity.indexOf(worst) ? dot : worst),
        'done' as CheckpointDot,
      ),
  )
}
