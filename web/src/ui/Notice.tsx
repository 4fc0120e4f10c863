import { IconAlertTriangleFilled, IconCircleCheckFilled, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './Notice.module.css'

type Tone = 'red' | 'ochre' | 'grey'

/** An inline message: what happened, why, and what to do next. */
export function Notice({
  tone,
  title,
  children,
  actions,
}: {
  tone: Tone
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
}) {
  const Sign = tone === 'grey' ? IconInfoCircle : IconAlertTriangleFilled
  return (
    <div className={`${styles.notice} ${styles[tone]}`} role={tone === 'grey' ? 'status' : 'alert'}>
      <Sign size={16} aria-hidden="true" className={styles.icon} />
      <div className={styles.text}>
        <strong>{title}</strong>
        {children !== undefined && <div className={styles.detail}>{children}</div>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}

/** An inline success message. */
export function SuccessNote({ children }: { children: ReactNode }) {
  return (
    <p className={styles.success} role="status">
      <IconCircleCheckFilled size={16} aria-hidden="true" />
      <span>{children}</span>
    </p>
  )
}
