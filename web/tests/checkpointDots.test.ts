import { describe, expect, it } from 'vitest'
import type { RunStatus } from '~/api/types'
import { dotsLabel, dotsOfCheckpoints, dotsOfCounts } from '~/lib/checkpointDots'
import { openExecution, runCheckpoint } from './fixtures'

const figures = (status: RunStatus, completed: number, waiting = 0) => ({
  status,
  pending_approval_count: waiting,
  pending_start_count: 0,
  open_executions: [],
  metadata: {
    total_checkpoints: 4,
    completed_checkpoints: completed,
    failed_checkpoints: 0,
    paused_checkpoint_position: null,
  },
})

describe('dotsOfCheckpoints', () => {
  it('maps each checkpoint to a dot', () =>
    expect(
      dotsOfCheckpoints([
        runCheckpoint({ status: 'completed' }),
        runCheckpoint({ status: 'in_progress' }),
        runCheckpoint({ status: 'waiting_approval_to_complete' }),
        runCheckpoint({ status: 'failed' }),
        runCheckpoint({ status: 'cancelled' }),
        runCheckpoint({ status: 'upcoming' }),
      ]),
    ).toEqual(['done', 'blue', 'ochre', 'red', 'grey', 'open']))
})

describe('dotsOfCounts', () => {
  it.each<[RunStatus, number, number, string[]]>([
    ['in_progress', 2, 0, ['done', 'done', 'blue', 'open']],
    ['in_progress', 2, 1, ['done', 'done', 'ochre', 'open']],
    ['failed', 1, 0, ['done', 'red', 'open', 'open']],
    ['paused', 0, 0, ['grey', 'open', 'open', 'open']],
    ['completed', 4, 0, ['done', 'done', 'done', 'done']],
    ['cancelled', 1, 0, ['done', 'open', 'open', 'open']],
  ])('%s with %d done and %d waiting', (status, completed, waiting, pebbles) =>
    expect(dotsOfCounts(figures(status, completed, waiting))).toEqual(pebbles),
  )
  it('shows ochre if the run needs a manual start', () =>
    expect(
      dotsOfCounts({
        ...figures('in_progress', 1),
        pending_start_count: 1,
        open_executions: [openExecution({ status: 'pending' })],
      }),
    ).toEqual(['done', 'ochre', 'open', 'open']))
})

describe('dotsLabel', () => {
  it('counts the dots by state', () =>
    expect(dotsLabel(['done', 'done', 'ochre', 'open'])).toBe(
      '4 checkpoints: 2 completed, 1 waiting, 1 upcoming',
    ))
  it('handles an empty run', () => expect(dotsLabel([])).toBe('No checkpoints'))
})
