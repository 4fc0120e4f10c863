import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useShortcuts } from '~/lib/shortcuts'
import { itemLink, type PendingItem } from '~/ui/PendingRows'

const links = () => [...document.querySelectorAll<HTMLElement>('[data-row-link]')]

const idOf = (link: Element | undefined) => link?.closest('[data-id]')?.getAttribute('data-id')

/** The index of the focused row, or -1. */
const focused = () => links().findIndex((link) => link.closest('[data-id]')?.contains(document.activeElement))

function moveFocus(offset: number): void {
  const all = links()
  const current = focused()
  all[current < 0 ? 0 : Math.min(Math.max(current + offset, 0), all.length - 1)]?.focus()
}

/**
 * J and K move through the rows, Enter opens one, X selects it. A, M, V and R open the approval with that decision
 * prepared, so that nothing is decided unseen.
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
