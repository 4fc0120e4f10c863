import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useShortcuts } from '~/lib/shortcuts'
import { itemLink, type PendingItem } from '~/ui/PendingRows'

const links = () => [...document.querySelectorAll<HTMLElement>('[data-row-link]')]

const idOf = (link: Element | undefined) => link?.closest('[data-id]')?.getAttribute('data-id')

/** Where the focus is in the list; -1 if it is elsewhere. */
const focused = () => links().findIndex((link) => link.closest('[data-id]')?.contains(document.activeElement))

function moveFocus(offset: number): void {
  const all = links()
  const current = focused()
  all[current < 0 ? 0 : Math.min(Math.max(current + offset, 0), all.length - 1)]?.focus()
}

/**
 * J and K walk the rows, ↵ opens one, X chooses it. A, M, V and R open the row with that decision asked: nobody decides
 * on what they have not seen.
 */
export function useListShortcuts(items: readonly PendingItem[], toggle: (item: PendingItem) => void): void {
  const navigate = useNavigate()
  const keys = useMemo(() => {
    const current = () => {
      const id = idOf(links()[Math.max(focused(), 0)])
      return items.find((item) => item.id === id)
    }
    const openWith = (key: string) => () => {
      const item = current()
      if (item === undefined) return
      const link = itemLink(item)
      void navigate(
        link.to === '/approvals/$approvalId'
          ? { to: link.to, params: { approvalId: item.id }, search: { do: key } }
          : link,
      )
    }
    return {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      x: () => {
        const item = current()
        if (item !== undefined) toggle(item)
      },
      a: openWith('A'),
      m: openWith('M'),
      v: openWith('V'),
      r: openWith('R'),
    }
  }, [items, toggle, navigate])
  useShortcuts(keys)
}
