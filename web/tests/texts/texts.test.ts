import { join } from 'node:path'
import { expect, it } from 'vitest'
import { collectTexts } from './collect'

it('the snapshot matches the texts of the app (update it with `npm run texts`)', async () => {
  const texts = collectTexts(join(import.meta.dirname, '../../src'))
  await expect(texts).toMatchFileSnapshot('./texts.md')
})
