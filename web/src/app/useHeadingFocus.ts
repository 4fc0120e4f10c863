import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** A page can show one heading while it loads and another one afterwards. */
const LOADING_TIMEOUT = 3000

/** Moves the focus to the heading after navigation, so that screen readers announce the page and Tab continues from there. */
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
      // Only if the focus was lost, so that the user is never interrupted.
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
  // A shortcut can focus an element of the new page. Keep that focus.
  if (
    document.activeElement instanceof HTMLElement &&
    document.activeElement.dataset.preselected !== undefined
  ) {
    return document.activeElement
  }
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  return heading
}
