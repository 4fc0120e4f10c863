import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addShortcuts } from '~/lib/shortcuts'

const did = { approve: vi.fn(), approvals: vi.fn(), other: vi.fn() }
let remove: (() => void)[] = []

function press(key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body): void {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }))
}

beforeEach(() => {
  vi.clearAllMocks()
  document.body.innerHTML = '<input /><div id="cover"></div>'
  remove = [addShortcuts({ 'g a': did.approvals, a: did.other }), addShortcuts({ a: did.approve })]
})
afterEach(() => {
  press('x')
  for (const undo of remove) undo()
})

const calls = () => [did.approve, did.approvals, did.other].map((deed) => deed.mock.calls.length)

describe('shortcuts', () => {
  it('trigger the shortcut that was added last', () => {
    press('a')
    press('A')
    expect(calls()).toEqual([2, 0, 0])
  })
  it('navigate after G and trigger nothing else', () => {
    press('g')
    press('a')
    expect(calls()).toEqual([0, 1, 0])
    press('g')
    press('z')
    press('a')
    expect(calls()).toEqual([1, 1, 0])
  })
  it('are disabled with a modifier, on key repeat and while typing', () => {
    press('a', { ctrlKey: true })
    press('a', { metaKey: true })
    press('a', { repeat: true })
    press('a', {}, document.querySelector('input') as HTMLElement)
    expect(calls()).toEqual([0, 0, 0])
  })
  it('are disabled under a dialog', () => {
    document.getElementById('cover')?.setAttribute('role', 'dialog')
    press('a')
    expect(calls()).toEqual([0, 0, 0])
  })
  it('are removed with their component', () => {
    remove.pop()?.()
    press('a')
    expect(calls()).toEqual([0, 0, 1])
  })
})
