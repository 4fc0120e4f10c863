import { expect, it } from 'vitest'
import { isNumeric, parseCsv } from '~/lib/csv'

it.each<[string, string, string[][]]>([
  ['nothing', '', []],
  [
    'plain',
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'Windows',
    'a,b\r\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'semicolons',
    'a;b\n1,5;2',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'tabs',
    'a\tb\n1\t2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'quotes',
    '"a,1","b ""x"""\n"two\nlines",',
    [
      ['a,1', 'b "x"'],
      ['two\nlines', ''],
    ],
  ],
  ['a mark at the start', '\uFEFFa,b', [['a', 'b']]],
  ['empty lines', 'a\n\nb\n', [['a'], ['b']]],
  ['a quote that is never closed', 'a,"b\nc', [['a', 'b\nc']]],
])('reads %s', (_, text, rows) => expect(parseCsv(text)).toEqual(rows))

it('stops at the row limit', () => expect(parseCsv('a\nb\nc\nd', 2)).toEqual([['a'], ['b']]))

it('recognizes numeric columns', () => {
  const rows = [
    ['1,200.50', 'x', ''],
    ['-3%', '4', ''],
  ]
  expect([0, 1, 2].map((column) => isNumeric(rows, column))).toEqual([true, false, false])
})
