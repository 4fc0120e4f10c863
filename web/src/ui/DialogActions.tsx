import type { ReactNode } from 'react'
import styles from './DialogActions.module.css'

/** The buttons at the end of a dialog, with an optional note. */
export function DialogActions({ note, children }: { note?: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.actions}>
      <span className={styles.note}>{note}</span>
      <div className={styles.buttons}>{children}</div>
    </div>
  )
}
