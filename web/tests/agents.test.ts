import { expect, it } from 'vitest'
import { agentNameIn, EXAMPLE_AGENT, originLabel, toolsLabel } from '~/lib/agents'

it.each([
  ['name: tester\ntitle: T', 'tester'],
  ['title: T\nname: "a b" # so', 'a b'],
  ['title: T', null],
  ['name:\ntitle: T', null],
  ['# name: no\n  name: inner', null],
  [EXAMPLE_AGENT, 'fact-checker'],
])('the name in %j', (text, name) => expect(agentNameIn(text)).toBe(name))

it('describes the origin and the tools of an agent', () => {
  const own = { is_builtin: false, overrides_builtin: false, revision: 2 }
  expect(originLabel(own)).toBe('custom')
  expect(originLabel({ ...own, overrides_builtin: true })).toBe('custom, replaces the built-in agent')
  expect(originLabel({ ...own, is_builtin: true })).toBe('built in')
  expect([toolsLabel(null), toolsLabel([]), toolsLabel(['a', 'b'])]).toEqual([
    'from the checkpoint',
    'none',
    'a, b',
  ])
})
