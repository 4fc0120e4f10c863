import { Link, type LinkProps } from '@tanstack/react-router'
import { Fragment, type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

export type Crumb = { label: string; link?: Pick<LinkProps, 'to' | 'params' | 'search'> }

/** The layout of every page: a top bar with breadcrumbs and actions, then the body. */
export function Page({
  title,
  crumbs = [],
  actions,
  fullBleed = false,
  documentTitle = title,
  children,
}: {
  title: string
  /** The title of the browser tab, if the last breadcrumb alone is not specific enough. */
  documentTitle?: string
  crumbs?: Crumb[]
  actions?: ReactNode
  /** The body fills the window and scrolls on its own. */
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

/** A section of a page with a heading. */
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

/** A bordered panel for rows. */
export function Panel({ children, ochre = false }: { children: ReactNode; ochre?: boolean }) {
  return (
    <div className={styles.panel} data-ochre={ochre || undefined}>
      {children}
    </div>
  )
}
