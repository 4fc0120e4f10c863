import { expect, it } from 'vitest'
import type { Template } from '~/api/types'
import { filterTemplates } from '~/lib/templates'

const template = (title: string, uses: Template['uses'], step = 'Work'): Template => ({
  name: title.toLowerCase(),
  title,
  description: `About ${title}.`,
  uses,
  checkpoints: [{ key: 'work', name: step, mode: 'agentic', requires_approval: null }],
  sample_input: null,
  text: '',
})

it.each([
  ['', '', ['Triage', 'Report']],
  ['ABOUT triage', '', ['Triage']],
  ['weigh', '', ['Report']],
  ['', 'agents', ['Triage']],
  ['report', 'agents', []],
  ['agents', '', ['Triage']],
])('templates with %j that use %j', (search, uses, titles) => {
  const all = [template('Triage', ['agents', 'people']), template('Report', ['scripts'], 'Weigh it')]
  expect(filterTemplates(all, search, uses).map(({ title }) => title)).toEqual(titles)
})
