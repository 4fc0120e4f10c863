import { describe, expect, it } from 'vitest'
import { changeLabel, previousVersionOf } from '~/lib/artifactChanges'
import { diffLines, diffWords } from '~/lib/diff'
import { withContentPolicy } from '~/lib/files'

const lines = (before: string, after: string) =>
  diffLines(before, after).map(
    ({ sign, parts }) =>
      `${sign}${parts.map(({ kind, text }) => (kind === 'same' ? text : `[${text}]`)).join('')}`,
  )
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('')

describe('diffLines', () => {
  it('compares line by line and marks changed words', () => {
    expect(lines('# Cap\nSix months.\n', '# Cap\nTwelve months.\n')).toEqual([
      ' # Cap',
      '−[Six] months.',
      '+[Twelve] months.',
    ])
    expect(lines('a\n', 'a\nb\nc\n')).toEqual([' a', '+[b]', '+[c]'])
    expect(lines('a\nb\n', '')).toEqual(['−[a]', '−[b]'])
    expect(lines('', '')).toEqual([])
  })

  it('omits unchanged lines except some context', () => {
    const [before, after] = [
      `${numbered(1, 20)}old\n${numbered(21, 40)}`,
      `${numbered(1, 20)}new\n${numbered(21, 40)}`,
    ]
    expect(lines(before, after)).toEqual([
      '…17 unchanged lines',
      ' line 18',
      ' line 19',
      ' line 20',
      '−[old]',
      '+[new]',
      ' line 21',
      ' line 22',
      ' line 23',
      '…17 unchanged lines',
    ])
  })

  it('shows texts with very many changes as replaced', () => {
    const rows = (suffix: string) => Array.from({ length: 2000 }, (_, index) => `${index}${suffix}`).join(' ')
    expect(diffWords(rows('a'), rows('b')).map(({ kind }) => kind)).toEqual(['removed', 'added'])
  })

  it('handles long texts with few changes', () => {
    const long = numbered(1, 5000)
    expect(lines(`${long}old\n`, `${long}new\n`).slice(-2)).toEqual(['−[old]', '+[new]'])
    expect(diffWords('x '.repeat(900), `${'x '.repeat(900)}y`)).toEqual([
      { kind: 'same', text: 'x '.repeat(900) },
      { kind: 'added', text: 'y' },
    ])
  })
})

it('finds the same artifact of the previous version', () => {
  const file = { checkpoint_id: 'c', artifact_name: 'ruling', format: 'md', checksum: '1' }
  const others = [
    { ...file, checkpoint_id: 'other' },
    { ...file, format: 'json' },
    { ...file, checksum: '2' },
  ]
  const found = previousVersionOf(file, others)
  expect(found).toBe(others[2])
  expect(previousVersionOf(file, others.slice(0, 2))).toBeUndefined()
  expect(changeLabel(file, found, 6)).toBe('changed since v6')
  expect(changeLabel(file, file, 6)).toBe('unchanged since v6')
  expect(changeLabel(file, undefined, 6)).toBe('new')
})

it('adds a content security policy to an untrusted page', () => {
  const page = withContentPolicy('<html><title>T</title></html>')
  const [, policy, rest] =
    /^<!doctype html><meta http-equiv="Content-Security-Policy" content="([^"]+)">(.*)$/.exec(page) ?? []
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('script-src')
  expect(rest).toBe('<html><title>T</title></html>')
})
