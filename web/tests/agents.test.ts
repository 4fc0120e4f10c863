import { expect, it } from 'vitest'
import { nameIn, originWords, SAMPLE, toolsWords } from '~/lib/agents'

it.each([
  ['name: tester\ntitle: T', 'tester'],
  ['title: T\nname: "a b" # so', 'a b'],
  ['title: T', null],
  ['name:\ntitle: T', null],
  ['# name: no\n  name: inner', null],
  [SAMPLE, 'fact-checker'],
])('the name in %j', (text, name) => expect(nameIn(text)).toBe(name))

it('says whose an agent is, and what it may use', () => {
  const own = { is_ready_made: false, replaces_ready_made: false, revision: 2 }
  expect(originWords(own)).toBe('your own')
  expect(originWords({ ...own, replaces_ready_made: true })).toBe("your own, in place of Cairn's")
  expect(originWords({ ...own, is_ready_made: true })).toBe('comes with Cairn')
  expect([toolsWords(null), toolsWords([]), toolsWords(['a', 'b'])]).toEqual([
    'those of the checkpoint',
    'none',
    'a, b',
  ])
})
