import { IconFlask } from '@tabler/icons-react'
import styles from './SimulatedTag.module.css'

/** Marks output of the simulated model. */
export function SimulatedTag() {
  return (
    <span className={styles.tag}>
      <IconFlask size={13} stroke={1.6} aria-hidden="true" />
      simulated
    </span>
  )
}
