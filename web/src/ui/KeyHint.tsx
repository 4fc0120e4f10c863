import styles from './KeyHint.module.css'

/** The keyboard shortcut of a button. */
export function KeyHint({ children }: { children: string }) {
  return (
    <span className={styles.kbd} aria-hidden="true">
      {children}
    </span>
  )
}
