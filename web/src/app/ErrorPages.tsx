import { Button } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { EmptyState } from '~/ui/EmptyState'
import { Page } from '~/ui/Page'

/** An address that leads nowhere. */
export function NotFoundPage() {
  return (
    <Page title="Not found">
      <h1 className="unseen">Not found</h1>
      <EmptyState
        title="There is nothing at this address"
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>Go home</Button>}
      >
        The page may have moved, or the link is incomplete.
      </EmptyState>
    </Page>
  )
}

/** A page that broke while it was drawn: a new version may have replaced its files. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <EmptyState
      title="This page could not be drawn"
      action={<Button onClick={() => location.reload()}>Load it again</Button>}
    >
      {error instanceof Error ? error.message : String(error)}
    </EmptyState>
  )
}
