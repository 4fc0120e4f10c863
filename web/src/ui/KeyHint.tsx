import styles from './KeyHint.module.css'

/** A key that does the same as the button it stands in. */
export function KeyHint({ children }: { children: string }) {
  return (
    <span className={styles.kbd} aria-hidden="true">
      {children}
    </span>
  )
}
