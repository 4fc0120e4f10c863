import { IconFlask } from '@tabler/icons-react'
import styles from './SimulatedTag.module.css'

/** No model was asked: what stands here was made up for trying things out. */
export function SimulatedTag() {
  return (
    <span className={styles.tag}>
      <IconFlask size={13} stroke={1.6} aria-hidden="true" />
      simulated
    </span>
  )
}
