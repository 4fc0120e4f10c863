import { Button } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { EmptyState } from '~/ui/EmptyState'
import { Page } from '~/ui/Page'

/** Shown for an unknown address. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <h1 className="unseen">Page not found</h1>
      <EmptyState
        title="Page not found"
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>Go home</Button>}
      >
        The page may have moved, or the link is incomplete.
      </EmptyState>
    </Page>
  )
}

/** Shown when a page fails to render, for example because a new version has replaced its files. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <EmptyState
      title="This page couldn't be displayed"
      action={<Button onClick={() => location.reload()}>Reload page</Button>}
    >
      {error instanceof Error ? error.message : String(error)}
    </EmptyState>
  )
}
