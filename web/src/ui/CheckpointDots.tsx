import { type Pebble, trailInWords } from '~/lib/checkpointDots'
import styles from './CheckpointDots.module.css'

const MOST = 24

/** One pebble per checkpoint. A long trail shows its figures instead of a hundred pebbles. */
export function Trail({ pebbles }: { pebbles: readonly Pebble[] }) {
  const shown = pebbles.length > MOST ? gather(pebbles) : pebbles
  return (
    <span className={styles.trail} role="img" aria-label={trailInWords(pebbles)}>
      {shown.map((pebble, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pebble is its place.
        <span key={index} className={`${styles.pebble} ${styles[pebble]}`} />
      ))}
    </span>
  )
}

/** Many checkpoints share a pebble; what needs the eye wins. */
function gather(pebbles: readonly Pebble[]): Pebble[] {
  const weight: Pebble[] = ['done', 'open', 'grey', 'blue', 'ochre', 'red']
  const step = pebbles.length / MOST
  return Array.from({ length: MOST }, (_, index) =>
    pebbles
      .slice(Math.floor(index * step), Math.max(Math.floor((index + 1) * step), Math.floor(index * step) + 1))
      .reduce(
        (most, pebble) => (weight.indexOf(pebble) > weight.indexOf(most) ? pebble : most),
        'done' as Pebble,
      ),
  )
}
