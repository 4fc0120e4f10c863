import { Button } from '@mantine/core'

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }

/** Loads the next page of a list. */
export function LoadMoreButton({ pages }: { pages: Pages }) {
  if (!pages.hasNextPage) return null
  return (
    <div>
      <Button loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show more
      </Button>
    </div>
  )
}
