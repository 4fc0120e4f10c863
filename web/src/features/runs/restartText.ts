import type { Run } from '~/api/types'
import { count } from '~/lib/formatting'

const namesOf = (items: readonly { name: string }[]) => items.map((item) => item.name).join(', ')

/** What a restart takes, stops, withdraws and begins, in words; null where there is nothing of the kind. */
export function restartWords(run: Pick<Run, 'trail' | 'waiting_approvals' | 'pass_number' | 'status'>): {
  kept: string
  stopped: string | null
  withdrawn: string | null
  begins: string
} {
  const done = run.trail.filter((item) => item.status === 'completed')
  const artifacts = done.reduce((sum, item) => sum + item.artifact_count, 0)
  const open = run.trail.filter(
    (item) => !['completed', 'upcoming', 'failed', 'cancelled'].includes(item.status),
  )
  const firsts = run.trail.filter((item) => item.stage === run.trail[0]?.stage)
  const asking = firsts.filter((item) => item.asks_to_start)
  const begin = firsts.filter((item) => !item.asks_to_start)
  return {
    kept:
      done.length === 0
        ? `Nothing is complete in pass ${run.pass_number} yet.`
        : `${count(done.length, 'checkpoint')} and ${count(artifacts, 'artifact')} of pass ${run.pass_number}. They can still be read.`,
    stopped: open.length === 0 ? null : namesOf(open),
    withdrawn:
      run.waiting_approvals.length === 0
        ? null
        : `${count(run.waiting_approvals.length, 'open question')}: ${run.waiting_approvals.map((item) => item.checkpoint_name).join(', ')}`,
    begins: [
      begin.length > 0 && `${namesOf(begin)} ${begin.length === 1 ? 'begins' : 'begin'} again.`,
      asking.length > 0 &&
        `${namesOf(asking)} ${asking.length === 1 ? 'asks' : 'ask'} for approval before the start.`,
    ]
      .filter(Boolean)
      .join(' '),
  }
}
