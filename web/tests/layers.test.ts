import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../src')
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.(tsx?|css)$/.test(name) && !name.endsWith('schema.d.ts'),
)
const read = (name: string) => readFileSync(join(SRC, name), 'utf8')

/** What each layer may import, besides itself. */
const BELOW: Record<string, string[]> = {
  lib: ['api/types'],
  api: ['lib'],
  ui: ['lib', 'api'],
  features: ['lib', 'api', 'ui'],
  app: ['lib', 'api', 'ui', 'features'],
}

function imports(name: string): string[] {
  return [...read(name).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, target]) => {
    if (target?.startsWith('~/')) return [target.slice(2)]
    return target?.startsWith('.') ? [relative(SRC, join(SRC, name, '..', target))] : []
  })
}

describe('source layers', () => {
  it.each(files.filter((name) => /\.tsx?$/.test(name) && name.includes('/')))(
    '%s imports only what is below',
    (name) => {
      const [layer = '', room] = name.split('/')
      const above = imports(name).filter((target) => {
        const [other, otherRoom] = target.split('/')
        if (other === layer) return layer === 'features' && otherRoom !== room
        return !(BELOW[layer] ?? []).some((allowed) => target === allowed || target.startsWith(`${allowed}/`))
      })
      expect(above).toEqual([])
    },
  )

  it('keeps files small', () =>
    expect(files.filter((name) => read(name).split('\n').length > 300)).toEqual([]))
})
