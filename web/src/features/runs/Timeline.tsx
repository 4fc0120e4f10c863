import { UnstyledButton } from '@mantine/core'
import { Fragment } from 'react'
import type { TrailItem } from '~/api/types'
import { duration } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { progressWords } from '~/lib/progress'
import { executionState, modeWord } from '~/lib/states'
import { ModeIcon } from '~/ui/ModeIcon'
import { ProgressBar } from '~/ui/ProgressBar'
import { StateSign } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './Timeline.module.css'

type Props = {
  trail: readonly TrailItem[]
  selected: string | undefined
  onSelect: (checkpointId: string) => void
}

/** Every checkpoint of the run in order, with what became of it. */
export function Timeline({ trail, selected, onSelect }: Props) {
  return (
    <ol className={styles.timeline} aria-label="Checkpoints">
      {trail.map((item, index) => (
        <Fragment key={item.checkpoint_id}>
          {beginsStage(trail, index) && (
            <li className={styles.stage} aria-label={`Stage ${item.stage}`}>
              {item.stage}, side by side
            </li>
          )}
          <li className={styles.item} data-last={index === trail.length - 1 || undefined}>
            <span className={styles.sign}>
              <StateSign state={executionState(item)} size={19} />
            </span>
            <Step item={item} selected={item.checkpoint_id === selected} onSelect={onSelect} />
          </li>
        </Fragment>
      ))}
    </ol>
  )
}

/** Only a stage that holds several is worth a word. */
function beginsStage(trail: readonly TrailItem[], index: number): boolean {
  const stage = trail[index]?.stage ?? null
  return stage !== null && trail[index - 1]?.stage !== stage && trail[index + 1]?.stage === stage
}

function Step({
  item,
  selected,
  onSelect,
}: {
  item: TrailItem
  selected: boolean
  onSelect: Props['onSelect']
}) {
  const now = useNow()
  const state = executionState(item, now)
  const took = tookOf(item, now)
  return (
    <UnstyledButton
      className={styles.step}
      aria-current={selected ? 'step' : undefined}
      onClick={() => onSelect(item.checkpoint_id)}
    >
      <span className={styles.head}>
        <span className={styles.name}>{item.name}</span>
        {took !== null && <span className={styles.took}>{took}</span>}
      </span>
      <span className={styles.mode}>
        <ModeIcon mode={item.mode} /> {modeWord(item.mode)}
      </span>
      <span className={styles.line} data-tone={item.is_stale ? 'ochre' : state.tone}>
        {lineOf(item, state.word)}
      </span>
      {item.progress !== null && <ProgressBar {...item.progress} label={`Progress of ${item.name}`} bare />}
    </UnstyledButton>
  )
}

function tookOf(item: TrailItem, now: Date): string | null {
  if (item.worked_seconds !== null && item.status === 'completed') return duration(item.worked_seconds)
  if (item.started_at === null) return null
  const end = item.completed_at === null ? now : new Date(item.completed_at)
  return item.status === 'in_progress' || item.status === 'completed'
    ? duration((end.getTime() - new Date(item.started_at).getTime()) / 1000)
    : null
}

/** The second line: what became of it, or what will be asked. */
function lineOf(item: TrailItem, word: string): string {
  if (item.status === 'upcoming') {
    return item.asks_to_start ? 'Asks before it starts' : item.asks_to_complete ? 'Asks when it is done' : ''
  }
  if (item.status === 'failed') return item.error ?? word
  const told = item.progress === null ? '' : progressWords(item.progress)
  const parts = [item.status === 'completed' ? count(item.artifact_count, 'artifact') : told || word]
  if (item.attempt_number > 1) parts.push(`attempt ${item.attempt_number}`)
  if (item.revision_iteration > 0) parts.push(`revision ${item.revision_iteration}`)
  if (item.is_rework) parts.push('rework')
  if (item.is_stale) parts.push('stale')
  return parts.join(' · ')
}
