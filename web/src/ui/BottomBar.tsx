import type { ReactNode } from 'react'
import type { State } from '~/lib/states'
import styles from './BottomBar.module.css'
import { StateIcon } from './StateTag'

/** The bottom bar of a run: it narrates, or it asks. It is always there, so that nothing shifts. */
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
  /** In place of the words. */
  leading?: ReactNode
  detail?: ReactNode
  actions?: ReactNode
  /** What went wrong with the last try, above the question. */
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
