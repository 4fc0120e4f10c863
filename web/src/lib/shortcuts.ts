import { useEffect } from 'react'

/** Actions by key. `g h` means G followed by H. */
export type Shortcuts = Record<string, () => void>

const SEQUENCE_TIMEOUT = 1200

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isOverlayOpen = () => document.querySelector('[role="dialog"], [role="menu"]') !== null

const layers: Shortcuts[] = []
let leaderPressedAt = Number.NEGATIVE_INFINITY

/** One listener for all shortcuts: after G, the next key never triggers its own shortcut. */
function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.repeat) return
  if (isTyping(event.target) || isOverlayOpen()) return
  const key = event.key.toLowerCase()
  const inSequence = event.timeStamp - leaderPressedAt < SEQUENCE_TIMEOUT
  leaderPressedAt = key === 'g' && !inSequence ? event.timeStamp : Number.NEGATIVE_INFINITY
  const name = inSequence ? `g ${key}` : key
  const action = layers.findLast((layer) => layer[name] !== undefined)?.[name]
  if (action === undefined) return
  event.preventDefault()
  action()
}

/** Adds shortcuts. The latest added ones win. Disabled while the user types or a dialog is open. */
export function addShortcuts(shortcuts: Shortcuts): () => void {
  if (layers.length === 0) document.addEventListener('keydown', handleKey)
  layers.push(shortcuts)
  return () => {
    if (!layers.includes(shortcuts)) return
    layers.splice(layers.indexOf(shortcuts), 1)
    if (layers.length === 0) document.removeEventListener('keydown', handleKey)
  }
}

export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => addShortcuts(shortcuts), [shortcuts])
}
