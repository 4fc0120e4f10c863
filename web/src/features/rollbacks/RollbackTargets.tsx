import { Radio } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { pipelineRuns, run as runQuery } from '~/api/queries'
import type { Run, RunSummary } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { runState } from '~/lib/states'
import { TargetOption } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { SelectField } from '~/ui/SelectField'
import { useNow } from '~/ui/Time'

/** Roll back to just after a completed checkpoint of this run, or to its beginning. */
export function CheckpointTargets({
  run,
  position,
  onSelect,
}: {
  run: Run
  position: number | null
  onSelect: (position: number) => void
}) {
  const now = useNow()
  return (
    <Radio.Group
      label="Roll back to just after"
      value={position === null ? '' : String(position)}
      onChange={(value) => onSelect(Number(value))}
    >
      <div className={styles.list}>
        <TargetOption value="-1" name="Start of the run" note="archives everything in this run" autofocus />
        {run.checkpoints
          .filter((item) => item.status !== 'upcoming')
          .map((item) => {
            const open = item.status === 'completed'
            return (
              <TargetOption
                key={item.checkpoint_id}
                value={open ? String(item.position) : null}
                name={`${item.position + 1}. ${item.name}`}
                note={
                  open && item.completed_at !== null ? formatTime(item.completed_at, now) : 'not completed'
                }
              />
            )
          })}
      </div>
    </Radio.Group>
  )
}

/** The position is null until it is selected. */
export type Target = { runId: string; version: number; position: number | null }

/** Rolls back to a checkpoint of an earlier run. */
export function EarlierRunTargets({
  run,
  target,
  onSelect,
}: {
  run: Run
  target: Target | null
  onSelect: (target: Target) => void
}) {
  const { data, error, refetch } = useQuery(pipelineRuns(run.pipeline_id, true))
  const now = useNow()
  if (error !== null)
    return <LoadError title="Couldn't load earlier runs." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  const earlier = data.items.filter(
    (item) =>
      item.run_version !== null &&
      item.run_version < (run.run_version ?? 0) &&
      item.pipeline_definition_version === run.pipeline_definition_version,
  )
  if (earlier.length === 0) return <p className={styles.hint}>There are no earlier runs to roll back to.</p>
  return (
    <>
      <Radio.Group
        label="Roll back to"
        value={target?.runId ?? ''}
        onChange={(runId) => {
          const selected = earlier.find((item) => item.run_id === runId)
          if (selected?.run_version != null)
            onSelect({ runId, version: selected.run_version, position: null })
        }}
      >
        <div className={styles.list}>
          {earlier.map((item) => (
            <TargetOption
              key={item.run_id}
              value={item.archived_by === null ? item.run_id : null}
              name={`v${item.run_version}`}
              note={item.archived_by === null ? summary(item, now) : 'rolled back'}
            />
          ))}
        </div>
      </Radio.Group>
      {target !== null && <EarlierRunCheckpoint key={target.runId} target={target} onSelect={onSelect} />}
    </>
  )
}

function summary(run: RunSummary, now: Date): string {
  const { completed_checkpoints: completed, total_checkpoints: total } = run.metadata
  return `${formatTime(run.created_at, now)}, ${runState(run, []).label.toLowerCase()}, ${completed} of ${total}`
}

/** The checkpoint of the earlier run, by default the last completed one. */
function EarlierRunCheckpoint({ target, onSelect }: { target: Target; onSelect: (target: Target) => void }) {
  const { data } = useQuery(runQuery(target.runId))
  const completed = data?.checkpoints.filter((item) => item.status === 'completed') ?? []
  const last = completed.at(-1)?.position ?? -1
  useEffect(() => {
    if (data !== undefined && target.position === null) onSelect({ ...target, position: last })
  }, [data, target, last, onSelect])
  if (data === undefined) return <LoadingText lines={1} />
  return (
    <SelectField
      label={`In v${target.version}, just after`}
      value={String(target.position ?? last)}
      options={[
        { value: '-1', label: 'Start of the run' },
        ...completed.map((item) => ({
          value: String(item.position),
          label: `${item.position + 1}. ${item.name}`,
        })),
      ]}
      onChange={(value) => onSelect({ ...target, position: Number(value) })}
    />
  )
}
