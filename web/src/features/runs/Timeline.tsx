import { UnstyledButton } from '@mantine/core'
import { Fragment } from 'react'
import type { RunCheckpoint } from '~/api/types'
import { formatDuration } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { progressText } from '~/lib/progress'
import { executionState, modeLabel } from '~/lib/states'
import { ModeIcon } from '~/ui/ModeIcon'
import { ProgressBar } from '~/ui/ProgressBar'
import { StateIcon } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './Timeline.module.css'

type Props = {
  checkpoints: readonly RunCheckpoint[]
  selected: string | undefined
  onSelect: (checkpointId: string) => void
}

/** The checkpoints of the run with their states. */
export function Timeline({ checkpoints, selected, onSelect }: Props) {
  return (
    <ol className={styles.timeline} aria-label="Checkpoints">
      {checkpoints.map((item, index) => (
        <Fragment key={item.checkpoint_id}>
          {startsStage(checkpoints, index) && (
            <li className={styles.stage} aria-label={`Stage ${item.stage}`}>
              {item.stage} (parallel)
            </li>
          )}
          <li className={styles.item} data-last={index === checkpoints.length - 1 || undefined}>
            <span className={styles.icon}>
              <StateIcon state={executionState(item)} size={19} />
            </span>
            <TimelineStep item={item} selected={item.checkpoint_id === selected} onSelect={onSelect} />
          </li>
        </Fragment>
      ))}
    </ol>
  )
}

/** A stage is only named if it has several checkpoints. */
function startsStage(checkpoints: readonly RunCheckpoint[], index: number): boolean {
  const stage = checkpoints[index]?.stage ?? null
  return stage !== null && checkpoints[index - 1]?.stage !== stage && checkpoints[index + 1]?.stage === stage
}

function TimelineStep({
  item,
  selected,
  onSelect,
}: {
  item: RunCheckpoint
  selected: boolean
  onSelect: Props['onSelect']
}) {
  const now = useNow()
  const state = executionState(item, now)
  const elapsed = elapsedTime(item, now)
  return (
    <UnstyledButton
      className={styles.step}
      aria-current={selected ? 'step' : undefined}
      onClick={() => onSelect(item.checkpoint_id)}
    >
      <span className={styles.header}>
        <span className={styles.name}>{item.name}</span>
        {elapsed !== null && <span className={styles.duration}>{elapsed}</span>}
      </span>
      <span className={styles.mode}>
        <ModeIcon mode={item.mode} /> {modeLabel(item.mode)}
      </span>
      <span className={styles.line} data-tone={item.is_stale ? 'ochre' : state.tone}>
        {statusLine(item, state.label)}
      </span>
      {item.progress !== null && (
        <ProgressBar {...item.progress} label={`Progress of ${item.name}`} barOnly />
      )}
    </UnstyledButton>
  )
}

function elapsedTime(item: RunCheckpoint, now: Date): string | null {
  if (item.active_seconds !== null && item.status === 'completed') return formatDuration(item.active_seconds)
  if (item.started_at === null) return null
  const end = item.completed_at === null ? now : new Date(item.completed_at)
  return item.status === 'in_progress' || item.status === 'completed'
    ? formatDuration((end.getTime() - new Date(item.started_at).getTime()) / 1000)
    : null
}

/** The status of a checkpoint, or the approvals it will need. */
function statusLine(item: RunCheckpoint, word: string): string {
  if (item.status === 'upcoming') {
    return item.requires_approval_to_start
      ? 'Approval to start'
      : item.requires_approval_to_complete
        ? 'Approval to complete'
        : ''
  }
  if (item.status === 'failed') return item.error_message ?? word
  const progress = item.progress === null ? '' : progressText(item.progress)
  const parts = [item.status === 'completed' ? pluralize(item.artifact_count, 'artifact') : progress || word]
  if (item.attempt_number > 1) parts.push(`attempt ${item.attempt_number}`)
  if (item.revision_iteration > 0) parts.push(`revision ${item.revision_iteration}`)
  if (item.is_rework) parts.push('rework')
  if (item.is_stale) parts.push('stale')
  return parts.join(' · ')
}
