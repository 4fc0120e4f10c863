import { useEffect } from 'react'

/** What a key does, by its name; `g h` is G and then H. */
export type Keys = Record<string, () => void>

const PATIENCE = 1200

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isCovered = () => document.querySelector('[role="dialog"], [role="menu"]') !== null

const layers: Keys[] = []
let leader = Number.NEGATIVE_INFINITY

/** One listener for all: after a leading G the next key is never taken for a key of its own. */
function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.repeat) return
  if (isTyping(event.target) || isCovered()) return
  const key = event.key.toLowerCase()
  const led = event.timeStamp - leader < PATIENCE
  leader = key === 'g' && !led ? event.timeStamp : Number.NEGATIVE_INFINITY
  const name = led ? `g ${key}` : key
  const act = layers.findLast((layer) => layer[name] !== undefined)?.[name]
  if (act === undefined) return
  event.preventDefault()
  act()
}

/** Adds keys for what buttons do; the newest part of a page wins. Off while somebody types or a dialog is open. */
export function addKeys(keys: Keys): () => void {
  if (layers.length === 0) document.addEventListener('keydown', press)
  layers.push(keys)
  return () => {
    if (!layers.includes(keys)) return
    layers.splice(layers.indexOf(keys), 1)
    if (layers.length === 0) document.removeEventListener('keydown', press)
  }
}

export function useKeys(keys: Keys): void {
  useEffect(() => addKeys(keys), [keys])
}
