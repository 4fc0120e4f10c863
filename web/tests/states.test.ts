import { describe, expect, it } from 'vitest'
import type { Role, RunCheckpoint, RunStatus } from '~/api/types'
import { approvalState, executionState, runState, runStateFromCheckpoints } from '~/lib/states'
import { openExecution, runCheckpoint } from './fixtures'

const ADMIN: Role[] = ['admin']
const run = (status: RunStatus, waiting = 0, pause_requested = false, failed_checkpoints = 0) => ({
  status,
  pending_approval_count: waiting,
  pending_start_count: 0,
  open_executions: [],
  pause_requested,
  over_budget: null,
  metadata: {
    total_checkpoints: 3,
    completed_checkpoints: 1,
    failed_checkpoints,
    paused_checkpoint_position: null,
  },
})

describe('runState', () => {
  it.each<[RunStatus, string, string]>([
    ['not_started', 'grey', 'Not started'],
    ['in_progress', 'blue', 'Running'],
    ['paused', 'grey', 'Paused'],
    ['completed', 'green', 'Completed'],
    ['failed', 'red', 'Failed'],
    ['cancelled', 'grey', 'Cancelled'],
  ])('%s is %s, %s', (status, tone, word) =>
    expect(runState(run(status), ADMIN)).toMatchObject({ tone, label: word }),
  )

  it('shows a waiting run as waiting', () =>
    expect(runState(run('in_progress', 1), ADMIN)).toEqual({
      tone: 'ochre',
      icon: 'person',
      label: 'Waiting for you',
    }))
  it('shows a viewer that the run waits for others', () =>
    expect(runState(run('in_progress', 1), ['viewer']).label).toBe('Waiting for others'))
  it('shows a failure that paused the run', () =>
    expect(runState(run('paused', 0, false, 1), ADMIN)).toEqual({
      tone: 'red',
      icon: 'failed',
      label: 'Failed (paused)',
    }))
  it('waits for a manual start, unless another checkpoint is running', () => {
    const toStart = {
      ...run('in_progress'),
      pending_start_count: 1,
      open_executions: [openExecution({ status: 'pending' })],
    }
    expect(runState(toStart, ADMIN)).toEqual({ tone: 'ochre', icon: 'person', label: 'Waiting for you' })
    expect(runState(toStart, ['viewer']).label).toBe('Waiting for manual start')
    expect(
      runState({ ...toStart, open_executions: [...toStart.open_executions, openExecution()] }, ADMIN).label,
    ).toBe('Running')
  })
  it('shows a requested pause', () =>
    expect(runState(run('in_progress', 0, true), ADMIN).label).toBe('Pausing after this checkpoint'))
})

describe('executionState', () => {
  it.each<[Partial<RunCheckpoint>, string, string]>([
    [{ status: 'upcoming' }, 'grey', 'Upcoming'],
    [{ status: 'pending' }, 'ochre', 'Waiting for manual start'],
    [{ status: 'waiting_approval_to_start' }, 'ochre', 'Waiting for start approval'],
    [{ status: 'waiting_approval_to_complete' }, 'ochre', 'Waiting for approval'],
    [{ status: 'in_progress' }, 'blue', 'Running'],
    [{ status: 'in_progress', waiting_on: 'human_form' }, 'ochre', 'Needs input'],
    [{ status: 'in_progress', waiting_on: 'escalation' }, 'ochre', 'Escalated'],
    [{ status: 'in_progress', waiting_on: 'rework' }, 'grey', 'Waiting for rework'],
    [{ status: 'completed' }, 'green', 'Completed'],
    [{ status: 'failed' }, 'red', 'Failed'],
    [{ status: 'cancelled' }, 'grey', 'Cancelled'],
  ])('%o is %s, %s', (facts, tone, word) =>
    expect(executionState(runCheckpoint(facts))).toMatchObject({ tone, label: word }),
  )

  it('counts down to a retry', () => {
    const now = new Date('2026-03-02T09:30:00Z')
    const item = runCheckpoint({
      status: 'in_progress',
      waiting_on: 'retry_delay',
      retry_due_at: '2026-03-02T09:30:11.2Z',
    })
    expect(executionState(item, now).label).toBe('Retrying in 12 s')
  })
})

describe('runStateFromCheckpoints', () => {
  const checkpoints = [
    runCheckpoint({ status: 'completed' }),
    runCheckpoint({ status: 'pending', position: 1 }),
  ]

  it('shows that the next checkpoint needs a manual start', () =>
    expect(runStateFromCheckpoints({ ...run('in_progress'), checkpoints }, ADMIN).label).toBe(
      'Waiting for you',
    ))
  it('is running while any checkpoint runs', () =>
    expect(
      runStateFromCheckpoints(
        { ...run('in_progress'), checkpoints: [...checkpoints, runCheckpoint({ status: 'in_progress' })] },
        ADMIN,
      ).label,
    ).toBe('Running'))
  it('keeps the state of a finished run', () =>
    expect(runStateFromCheckpoints({ ...run('cancelled'), checkpoints }, ADMIN).label).toBe('Cancelled'))
})

describe('approvals', () => {
  it('wait for you while you can decide', () => {
    expect(approvalState({ status: 'pending', can_decide: true }).label).toBe('Waiting for you')
    expect(approvalState({ status: 'pending', can_decide: false }).label).toBe('Waiting for approval')
    expect(approvalState({ status: 'auto_approved', can_decide: true }).label).toBe('Approved by rule')
  })
})
