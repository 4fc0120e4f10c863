import { describe, expect, it } from 'vitest'
import type { RollbackPreview } from '~/api/types'
import { decisionOptions } from '~/features/approvals/decisions'
import { nextVersion, startLabel } from '~/features/pipelines/runVersions'
import { archivedText, nextStepText, rollbackSummary } from '~/features/rollbacks/rollbackText'
import { changedArtifacts } from '~/lib/artifactChanges'
import { fileName } from '~/lib/files'
import { formatBytes, initials, pluralize, pluralizeAtLeast, shortDigest } from '~/lib/formatting'
import { groupByLine, rangeOfLine } from '~/lib/lines'
import { sampleInput } from '~/lib/sampleInput'
import { extractToken } from '~/lib/startLink'

describe('formatting', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1400, '1.4 kB'],
    [74_000, '74.0 kB'],
    [123_456, '123 kB'],
    [999_600, '1.0 MB'],
    [3_000_000, '3.0 MB'],
  ])('%d bytes are %s', (bytes, words) => expect(formatBytes(bytes)).toBe(words))
  it('pluralizes nouns', () => {
    expect([pluralize(1, 'run'), pluralize(2, 'run')]).toEqual(['1 run', '2 runs'])
    expect([pluralizeAtLeast(50, true, 'run'), pluralizeAtLeast(1, false, 'run')]).toEqual([
      '50+ runs',
      '1 run',
    ])
  })
  it('shorten digests and names', () => {
    expect(shortDigest(`7f3a${'0'.repeat(56)}c21e`)).toBe('7f3a…c21e')
    expect([initials('Alex Chen'), initials('admin'), initials('')]).toEqual(['AC', 'A', '?'])
  })
})

describe('nextVersion', () => {
  const run = (run_version: number | null, archived_by: string | null = null, definition = 2) => ({
    run_version,
    archived_by,
    pipeline_definition_version: definition,
  })
  it('never reuses a version and extends the latest active one', () => {
    const next = nextVersion([run(3, 'rollback'), run(2, 'rollback'), run(1), run(null), run(9, null, 1)], 2)
    expect(next).toEqual({ next: 4, extends: 1 })
    expect(startLabel(next)).toBe('Start v4 (based on v1)')
  })
  it('starts with v1', () => expect(startLabel(nextVersion([], 1))).toBe('Start v1'))
})

describe('extractToken', () => {
  it.each([
    ['http://127.0.0.1:8700/#token=abc-1_2', 'abc-1_2'],
    ['#token=abc', 'abc'],
    [' abc ', 'abc'],
    ['token=a%2Bb', 'a+b'],
    ['', null],
    ['http://127.0.0.1:8700/', null],
    ['two words', null],
  ])('%s holds %s', (pasted, token) => expect(extractToken(pasted)).toBe(token))
})

describe('rollback texts', () => {
  const items = {
    deleted_runs: [
      { run_id: 'a', run_version: 7 },
      { run_id: 'b', run_version: 6 },
    ],
    deleted_checkpoint_executions: [
      {
        execution_id: 'e',
        checkpoint_id: 'c',
        checkpoint_name: 'Goals',
        checkpoint_position: 0,
        status: 'completed' as const,
      },
    ],
    archived_artifacts: [],
  }
  it('describe the archived items', () =>
    expect(archivedText({ rolled_back_items: items, size_bytes: 0 })).toBe(
      'v6 and v7: 1 execution. You can undo this until something newer completes.',
    ))
  it('describe the next step', () => {
    const then = (start_mode: RollbackPreview['resumes_with']['start_mode']) =>
      nextStepText({ checkpoint_name: 'Design', start_mode }, null)
    expect([then('immediately'), then('needs_approval'), then('manual'), then('run_completes')]).toEqual([
      'Design starts again immediately.',
      'Design needs approval to start.',
      'Design waits for a manual start.',
      'The run is completed.',
    ])
  })
  it('summarize a rollback', () => {
    const facts = { rolled_back_items: items, target_run_version: 5, target_checkpoint_position: 2 }
    type Rollback = Parameters<typeof rollbackSummary>[0]
    expect(rollbackSummary({ ...facts, rollback_type: 'run_level' } as unknown as Rollback)).toBe(
      'Rolled back to v5, 2 runs archived.',
    )
    expect(
      rollbackSummary({
        ...facts,
        rollback_type: 'checkpoint_level',
        target_checkpoint_position: -1,
        rolled_back_items: { ...items, deleted_runs: [] },
      } as unknown as Rollback),
    ).toBe('Rolled back to the start, 1 execution archived.')
  })
})

describe('decisionOptions', () => {
  it('sorts destructive decisions first', () => {
    expect(decisionOptions(['approve', 'revise', 'reject']).map(([name]) => name)).toEqual([
      'reject',
      'revise',
      'approve',
    ])
    expect(decisionOptions(['approve', 'refuse']).map(([name]) => name)).toEqual(['refuse', 'approve'])
    expect(decisionOptions(['answer', 'decline']).map(([name]) => name)).toEqual(['decline'])
  })
})

describe('changedArtifacts', () => {
  it('describes each artifact', () =>
    expect(
      changedArtifacts(
        [
          { artifact_name: 'a', checksum: '1' },
          { artifact_name: 'b', checksum: '1' },
        ],
        [
          { artifact_name: 'a', checksum: '2' },
          { artifact_name: 'c', checksum: '1' },
        ],
      ),
    ).toEqual(['a changed', 'c added', 'b removed']))
})

describe('lines', () => {
  it('finds the range of a line', () => {
    expect(rangeOfLine('ab\ncd\nef', 2)).toEqual([3, 5])
    expect(rangeOfLine('ab', 9)).toEqual([0, 2])
  })
  it('groups findings by line', () =>
    expect([
      ...groupByLine([
        { path: '', message: 'x', line: 2 },
        { path: '', message: 'y' },
      ]).keys(),
    ]).toEqual([2, 0]))
})

describe('sampleInput', () => {
  it('uses defaults and examples', () =>
    expect(
      sampleInput({
        type: 'object',
        properties: { text: { default: 'A cairn' }, n: { examples: [3] }, odd: {} },
      }),
    ).toEqual({ text: 'A cairn', n: 3 }))
  it('is undefined if the schema has no samples', () => {
    expect(sampleInput({ type: 'object', properties: { a: {} } })).toBeUndefined()
    expect(sampleInput(null)).toBeUndefined()
  })
})

describe('file names', () => {
  it('contain the extension once', () => {
    expect(fileName({ artifact_name: 'goals', format: 'json' })).toBe('goals.json')
    expect(fileName({ artifact_name: 'goals.json', format: 'json' })).toBe('goals.json')
  })
})
