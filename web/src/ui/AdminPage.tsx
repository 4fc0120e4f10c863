import type { ReactNode } from 'react'
import { useRoles } from '~/api/session'
import { EmptyState } from './EmptyState'
import { Page } from './Page'

/** A settings page that only admins can see. */
export function AdminPage({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  const isAdmin = useRoles().includes('admin')
  return (
    <Page
      title={title}
      crumbs={[{ label: 'Settings', link: { to: '/settings' } }]}
      actions={isAdmin && actions}
    >
      {isAdmin ? (
        children
      ) : (
        <>
          <h1 className="unseen">{title}</h1>
          <EmptyState title="Admins only">You need the admin role to view this page.</EmptyState>
        </>
      )}
    </Page>
  )
}
