import { type ReactNode, useEffect } from 'react'
import { Mark } from '~/ui/Logo'
import styles from './SignIn.module.css'

/** The frame of what is shown before the app: one column with the mark. */
export function Entrance({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title.replace(/ to Cairn$/, '')} · Cairn`
  }, [title])
  return (
    <main className={styles.gate}>
      <div className={styles.card}>
        <Mark size={40} />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
