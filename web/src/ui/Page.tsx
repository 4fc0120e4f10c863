import { Link, type LinkProps } from '@tanstack/react-router'
import { Fragment, type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

export type Crumb = { label: string; link?: Pick<LinkProps, 'to' | 'params' | 'search'> }

/** Every page: the top bar with where one is and what can be done, then its body. */
export function Page({
  title,
  crumbs = [],
  actions,
  fullBleed = false,
  documentTitle = title,
  children,
}: {
  title: string
  /** The title of the browser tab, where the last breadcrumb alone says too little. */
  documentTitle?: string
  crumbs?: Crumb[]
  actions?: ReactNode
  /** The body fills the window and scrolls by itself. */
  fullBleed?: boolean
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${documentTitle} · Cairn`
  }, [documentTitle])
  return (
    <div className={styles.page} data-bleed={fullBleed || undefined}>
      <header className={styles.top}>
        <nav aria-label="Breadcrumb" className={styles.crumbs}>
          {crumbs.map((crumb) => (
            <Fragment key={crumb.label}>
              <Link {...crumb.link} className={styles.crumb}>
                {crumb.label}
              </Link>
              <span aria-hidden="true">/</span>
            </Fragment>
          ))}
          <span aria-current="page" className={styles.current}>
            {title}
          </span>
        </nav>
        <div className={styles.actions}>{actions}</div>
      </header>
      {fullBleed ? children : <div className={styles.body}>{children}</div>}
    </div>
  )
}

/** A titled part of a page. */
export function Section({
  title,
  count,
  aside,
  children,
}: {
  title: string
  count?: number
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <h2>
          {title}
          {count !== undefined && <span className={styles.count}>{count}</span>}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** A panel with rules between its rows. */
export function Panel({ children, ochre = false }: { children: ReactNode; ochre?: boolean }) {
  return (
    <div className={styles.panel} data-ochre={ochre || undefined}>
      {children}
    </div>
  )
}
