import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'
import { Mark } from './Logo'

/** Nothing here: a mark, a good-news sentence, one action. */
export function Empty({
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
      <Mark size={32} />
      <p className={styles.title}>{title}</p>
      {children !== undefined && <p className={styles.words}>{children}</p>}
      {action}
    </div>
  )
}
