import { type ReactNode, useEffect } from 'react'
import { Logo } from '~/ui/Logo'
import styles from './SignIn.module.css'

/** The layout of pages that are shown without a session. */
export function SignInLayout({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title.replace(/ to Cairn$/, '')} · Cairn`
  }, [title])
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <Logo size={40} />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
