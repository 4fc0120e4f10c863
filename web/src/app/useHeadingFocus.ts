import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** A page may show a heading while it loads, and then its own. */
const LOADING_TIMEOUT = 3000

/** On another page the focus moves to its heading: whoever listens hears where they are, and Tab goes on from there. */
export function useHeadingFocus(): void {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  const last = useRef(path)
  useEffect(() => {
    const before = last.current
    last.current = path
    if (before === undefined || path === undefined || before === path) return
    const main = document.getElementById('main')
    if (main === null) return
    let focused = focusHeading(main)
    const observer = new MutationObserver(() => {
      // Only where the focus was lost with what is gone: nobody is torn away from what they have begun.
      if (focused?.isConnected !== true && isFocusLost()) focused = focusHeading(main)
    })
    observer.observe(main, { childList: true, subtree: true })
    const timer = setTimeout(() => observer.disconnect(), LOADING_TIMEOUT)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [path])
}

const isFocusLost = () => document.activeElement === null || document.activeElement === document.body

function focusHeading(main: HTMLElement): HTMLElement | null {
  const heading = main.querySelector('h1')
  if (heading === null || document.querySelector('[role="dialog"]') !== null) return null
  // Whoever came here by a key for something on the page goes on from there.
  if (document.activeElement instanceof HTMLElement && document.activeElement.dataset.asked !== undefined) {
    return document.activeElement
  }
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  return heading
}
