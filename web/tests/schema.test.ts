import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const WEB = join(import.meta.dirname, '..')

it('the generated types match the published API', { timeout: 60_000 }, () => {
  const { scripts } = JSON.parse(readFileSync(join(WEB, 'tools/package.json'), 'utf8'))
  const flags = scripts.generate
    .split(' ')
    .filter((word: string) => word.startsWith('--') && word !== '--output')
  const cli = join(WEB, 'tools/node_modules/openapi-typescript/bin/cli.js')
  const made = execFileSync(process.execPath, [cli, 'openapi.json', ...flags], { cwd: WEB, encoding: 'utf8' })
  expect(made === readFileSync(join(WEB, 'src/api/schema.d.ts'), 'utf8'), 'stale: run make api-types').toBe(
    true,
  )
})
