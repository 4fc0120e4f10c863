import { useEffect } from 'react'

type Keys = Record<string, (event: KeyboardEvent) => void>

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isCovered = () => document.querySelector('[role="dialog"], [role="menu"]') !== null

/** Single keys for what buttons do; off while somebody types or a dialog is open. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isTyping(event.target) || isCovered()) return
      const act = keys[event.key.toLowerCase()]
      if (act === undefined) return
      event.preventDefault()
      act(event)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [keys])
}
