import type { RunSummary, TrailItem } from '~/api/types'
import { count } from './formatting'
import { executionState, hasFailed } from './states'
import { onlyWaitsForAStart } from './waiting'

/** One pebble of the trail: done, open, or what the current one is about. */
export type Pebble = 'done' | 'ochre' | 'blue' | 'red' | 'grey' | 'open'

export function pebblesOf(
  trail: readonly Pick<TrailItem, 'status' | 'waiting_on' | 'retry_due_at'>[],
): Pebble[] {
  return trail.map((item) => {
    if (item.status === 'completed') return 'done'
    if (item.status === 'upcoming') return 'open'
    const tone = executionState(item).tone
    return tone === 'green' ? 'done' : tone
  })
}

/** The same from a run's figures alone, where a list has no trail. */
export function pebblesOfFigures(
  run: Pick<RunSummary, 'status' | 'waiting' | 'to_start' | 'open' | 'metadata'>,
): Pebble[] {
  const { total_checkpoints: total, completed_checkpoints: completed } = run.metadata
  const pebbles: Pebble[] = Array.from({ length: total }, (_, index) => (index < completed ? 'done' : 'open'))
  if (completed < total) {
    if (hasFailed(run)) pebbles[completed] = 'red'
    else if (run.status === 'paused') pebbles[completed] = run.waiting > 0 ? 'ochre' : 'grey'
    else if (run.status === 'in_progress')
      pebbles[completed] = run.waiting > 0 || onlyWaitsForAStart(run) ? 'ochre' : 'blue'
  }
  return pebbles
}

const WORDS: Record<Pebble, string> = {
  done: 'completed',
  ochre: 'waiting for a person',
  blue: 'running',
  red: 'failed',
  grey: 'halted',
  open: 'to come',
}

/** The trail in words, for those who cannot see it. */
export function trailInWords(pebbles: readonly Pebble[]): string {
  const kinds: Pebble[] = ['done', 'blue', 'ochre', 'red', 'grey', 'open']
  const parts = kinds
    .map((kind) => [kind, pebbles.filter((pebble) => pebble === kind).length] as const)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => `${number} ${WORDS[kind]}`)
  return parts.length === 0 ? 'No checkpoints' : `${count(pebbles.length, 'checkpoint')}: ${parts.join(', ')}`
}
