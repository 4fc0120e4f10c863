import type { ReactNode } from 'react'
import type { State } from '~/lib/states'
import styles from './BottomBar.module.css'
import { StateIcon } from './StateTag'

/** The bar at the bottom of a page, with the current status and its actions. It is always present, so that the layout doesn't shift. */
export function BottomBar({
  state,
  title,
  leading,
  detail,
  actions,
  notice,
}: {
  state: State
  title: string
  /** Replaces the title and detail. */
  leading?: ReactNode
  detail?: ReactNode
  actions?: ReactNode
  /** Why the last attempt failed. */
  notice?: ReactNode
}) {
  return (
    <section className={styles.bar} data-tone={state.tone} aria-label="Status and actions">
      {notice !== undefined && notice !== null && <div className={styles.notice}>{notice}</div>}
      <div className={styles.row}>
        {leading !== undefined && <div className={styles.leading}>{leading}</div>}
        {title !== '' && (
          <div className={styles.text}>
            <p className={styles.title} aria-live="polite">
              <StateIcon state={state} size={17} />
              {title}
            </p>
            {detail !== undefined && <p className={styles.detail}>{detail}</p>}
          </div>
        )}
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
    </section>
  )
}
