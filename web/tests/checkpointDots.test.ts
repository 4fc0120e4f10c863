import { describe, expect, it } from 'vitest'
import type { RunStatus } from '~/api/types'
import { pebblesOf, pebblesOfFigures, trailInWords } from '~/lib/checkpointDots'
import { openOne, trailItem } from './fixtures'

const figures = (status: RunStatus, completed: number, waiting = 0) => ({
  status,
  waiting,
  to_start: 0,
  open: [],
  metadata: {
    total_checkpoints: 4,
    completed_checkpoints: completed,
    failed_checkpoints: 0,
    paused_checkpoint_position: null,
  },
})

describe('pebblesOf', () => {
  it('gives each checkpoint its pebble', () =>
    expect(
      pebblesOf([
        trailItem({ status: 'completed' }),
        trailItem({ status: 'in_progress' }),
        trailItem({ status: 'waiting_approval_to_complete' }),
        trailItem({ status: 'failed' }),
        trailItem({ status: 'cancelled' }),
        trailItem({ status: 'upcoming' }),
      ]),
    ).toEqual(['done', 'blue', 'ochre', 'red', 'grey', 'open']))
})

describe('pebblesOfFigures', () => {
  it.each<[RunStatus, number, number, string[]]>([
    ['in_progress', 2, 0, ['done', 'done', 'blue', 'open']],
    ['in_progress', 2, 1, ['done', 'done', 'ochre', 'open']],
    ['failed', 1, 0, ['done', 'red', 'open', 'open']],
    ['paused', 0, 0, ['grey', 'open', 'open', 'open']],
    ['completed', 4, 0, ['done', 'done', 'done', 'done']],
    ['cancelled', 1, 0, ['done', 'open', 'open', 'open']],
  ])('%s with %d done and %d waiting', (status, completed, waiting, pebbles) =>
    expect(pebblesOfFigures(figures(status, completed, waiting))).toEqual(pebbles),
  )
  it('waits for a person where only a start by hand moves it on', () =>
    expect(
      pebblesOfFigures({ ...figures('in_progress', 1), to_start: 1, open: [openOne({ status: 'pending' })] }),
    ).toEqual(['done', 'ochre', 'open', 'open']))
})

describe('trailInWords', () => {
  it('says what the eye sees', () =>
    expect(trailInWords(['done', 'done', 'ochre', 'open'])).toBe(
      '4 checkpoints: 2 completed, 1 waiting for a person, 1 to come',
    ))
  it('is short for an empty one', () => expect(trailInWords([])).toBe('No checkpoints'))
})
