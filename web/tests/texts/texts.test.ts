import { join } from 'node:path'
import { expect, it } from 'vitest'
import { collectTexts } from './collect'

it('the snapshot holds every text of the app; `npm run texts` renews it', async () => {
  const texts = collectTexts(join(import.meta.dirname, '../../src'))
  await expect(texts).toMatchFileSnapshot('./texts.md')
})
