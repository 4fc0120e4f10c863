import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useKeys } from '~/lib/shortcuts'
import { placeOf, type Waiting } from '~/ui/PendingRows'

const links = () => [...document.querySelectorAll<HTMLElement>('[data-row-link]')]

const idOf = (link: Element | undefined) => link?.closest('[data-id]')?.getAttribute('data-id')

/** Where the focus is in the list; -1 if it is elsewhere. */
const focused = () => links().findIndex((link) => link.closest('[data-id]')?.contains(document.activeElement))

function step(by: number): void {
  const all = links()
  const at = focused()
  all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus()
}

/**
 * J and K walk the rows, ↵ opens one, X chooses it. A, M, V and R open the row with that decision asked: nobody decides
 * on what they have not seen.
 */
export function useRowKeys(items: readonly Waiting[], choose: (item: Waiting) => void): void {
  const navigate = useNavigate()
  const keys = useMemo(() => {
    const current = () => {
      const id = idOf(links()[Math.max(focused(), 0)])
      return items.find((item) => item.id === id)
    }
    const ask = (key: string) => () => {
      const item = current()
      if (item === undefined) return
      const place = placeOf(item)
      void navigate(
        place.to === '/approvals/$approvalId'
          ? { to: place.to, params: { approvalId: item.id }, search: { do: key } }
          : place,
      )
    }
    return {
      j: () => step(1),
      k: () => step(-1),
      x: () => {
        const item = current()
        if (item !== undefined) choose(item)
      },
      a: ask('A'),
      m: ask('M'),
      v: ask('V'),
      r: ask('R'),
    }
  }, [items, choose, navigate])
  useKeys(keys)
}
