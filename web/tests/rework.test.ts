import { describe, expect, it } from 'vitest'
import type { ReworkPreview } from '~/api/types'
import { nextStepText, replacedText, staleText, statusText } from '~/features/rework/reworkText'

const RUN = '00000000-0000-4000-8000-000000000001'

function preview(facts: Partial<ReworkPreview> = {}): ReworkPreview {
  return {
    run_id: RUN,
    checkpoint_id: '',
    checkpoint_key: 'code',
    checkpoint_name: 'Code',
    checkpoint_position: 0,
    execution_id: '',
    prompt: '',
    reason: '',
    replaced: [],
    requester_execution_id: '',
    requester_checkpoint_name: 'Test',
    requester_waits: true,
    withdrawn_approvals: [],
    stale_executions: [],
    reopens_run: false,
    reworks: 0,
    start_mode: 'immediately',
    ...facts,
  }
}

const file = (name: string) => ({
  artifact_record_id: name,
  artifact_name: name,
  file_path: name,
  size_bytes: 1,
})
const stale = (name: string, version: number, run = RUN) => ({
  execution_id: name,
  run_id: run,
  run_version: version,
  checkpoint_name: name,
  artifacts: ['code'],
})

describe('rework texts', () => {
  it('describes the next step of the checkpoint and the requester', () => {
    expect(nextStepText(preview())).toBe(
      'Code starts again immediately. Test waits, then continues with the new artifacts.',
    )
    expect(nextStepText(preview({ start_mode: 'needs_approval', requester_waits: false }))).toBe(
      'Code needs approval to start again. Test does not change.',
    )
    expect(nextStepText(preview({ start_mode: 'on_resume' }))).toContain(
      'Code starts again when the run is resumed.',
    )
  })

  it('counts replaced artifacts', () => {
    expect(replacedText(preview())).toBe('There are no artifacts to replace.')
    expect(replacedText(preview({ replaced: [file('a')] }))).toBe(
      '1 artifact is replaced and stays available as superseded.',
    )
    expect(replacedText(preview({ replaced: [file('a'), file('b')] }))).toBe(
      '2 artifacts are replaced and stay available as superseded.',
    )
  })

  it('lists stale checkpoints of this and other runs', () => {
    expect(staleText(preview({ stale_executions: [stale('Docs', 1)] }))).toBe(
      'Docs. It used the replaced artifacts. You can rerun it.',
    )
    expect(staleText(preview({ stale_executions: [stale('Docs', 1), stale('Code', 2, 'other')] }))).toBe(
      'Docs, Code (v2). They used the replaced artifacts. You can rerun them one by one.',
    )
  })

  it('describes the status', () => {
    const words = (['completed', 'failed', 'cancelled', 'in_progress'] as const).map((status) =>
      statusText({ status, archived_by: null }),
    )
    expect(words).toEqual(['completed', 'failed', 'cancelled', 'in progress'])
    expect(statusText({ status: 'waiting_approval_to_complete', archived_by: null })).toBe(
      'waiting for approval',
    )
    expect(statusText({ status: 'completed', archived_by: RUN })).toBe('removed by a rollback')
  })
})
