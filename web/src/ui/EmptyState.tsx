import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'
import { Logo } from './Logo'

/** Shown instead of an empty list, with one action. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={styles.empty}>
      <Logo size={32} />
      <p className={styles.title}>{title}</p>
      {children !== undefined && <p className={styles.text}>{children}</p>}
      {action}
    </div>
  )
}
