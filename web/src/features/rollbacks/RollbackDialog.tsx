import { Button, Modal, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createRollback, previewRollback } from '~/api/commands'
import type { CreateRollbackRequest, Rollback, Run } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { newId } from '~/lib/ids'
import { DialogActions } from '~/ui/DialogActions'
import styles from '~/ui/ImpactPreview.module.css'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { RollbackImpact } from './RollbackImpact'
import { CheckpointTargets, EarlierRunTargets, type Target } from './RollbackTargets'

type Level = 'checkpoint_level' | 'run_level'
type Props = { run: Run; opened: boolean; onClose: () => void; onDone: (rollback: Rollback) => void }

/** Rolls a run back and shows the impact first. */
export function RollbackDialog({ run, opened, onClose, onDone }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={780}
      title={`Roll back ${run.pipeline_name} ${version(run)}`}
      padding={0}
      classNames={{ header: styles.header, body: styles.modal }}
    >
      {opened && <Content key={run.run_id} run={run} onClose={onClose} onDone={onDone} />}
    </Modal>
  )
}

const version = (run: Pick<Run, 'run_version'>) => (run.run_version === null ? 'test' : `v${run.run_version}`)

function Content({ run, onClose, onDone }: Omit<Props, 'opened'>) {
  const client = useQueryClient()
  const [level, setLevel] = useState<Level>('checkpoint_level')
  const [position, setPosition] = useState<number | null>(() => defaultPosition(run))
  const [target, setTarget] = useState<Target | null>(null)
  const [reason, setReason] = useState('')
  const [confirmation, setConfirmation] = useState('')
  // One id per dialog, so that repeated requests roll back only once.
  const [rollbackId] = useState(newId)

  const request = rollbackRequest(run, level, position, target)
  const preview = useQuery({
    queryKey: ['run', run.run_id, 'rollback preview', request],
    queryFn: ({ signal }) => previewRollback(request as CreateRollbackRequest, signal),
    enabled: request !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const runLevel = level === 'run_level'
  const confirmed = !runLevel || confirmation.trim() === run.pipeline_name
  const ready =
    request !== null &&
    preview.data !== undefined &&
    !preview.isError &&
    !preview.isPlaceholderData &&
    confirmed

  const rollback = useMutation({
    mutationFn: (body: CreateRollbackRequest) =>
      createRollback({ ...body, user_reason: reason.trim() || undefined, rollback_id: rollbackId }),
    onSuccess: (created) => {
      onDone(created)
      for (const key of ['run', 'runs', 'pipelines', 'pipeline', 'approvals'])
        void client.invalidateQueries({ queryKey: [key] })
    },
    onError: () => void preview.refetch(),
  })

  return (
    <>
      <div className={styles.columns}>
        <div className={styles.targets}>
          {run.run_version !== null && (
            <SegmentedControl
              fullWidth
              aria-label="Rollback scope"
              value={level}
              onChange={(value) => setLevel(value as Level)}
              data={[
                { value: 'checkpoint_level', label: `Within ${version(run)}` },
                { value: 'run_level', label: 'To an earlier run' },
              ]}
            />
          )}
          {runLevel ? (
            <EarlierRunTargets run={run} target={target} onSelect={setTarget} />
          ) : (
            <CheckpointTargets run={run} position={position} onSelect={setPosition} />
          )}
          <Textarea
            label="Reason (optional)"
            description="Recorded in the events."
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {runLevel && (
            <TextInput
              label={
                <>
                  Type <code>{run.pipeline_name}</code> to confirm
                </>
              }
              value={confirmation}
              onChange={(event) => setConfirmation(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
        </div>
        <div className={styles.impact} aria-live="polite">
          <h3>Impact</h3>
          {request === null ? (
            <p className={styles.hint}>Select a rollback target.</p>
          ) : preview.isError ? (
            <ProblemNotice title="This isn't possible." error={preview.error} />
          ) : (
            <RollbackImpact preview={preview.data} target={target?.version ?? null} />
          )}
        </div>
      </div>
      <div className={styles.footer}>
        {rollback.error !== null && <ProblemNotice title="Couldn't roll back." error={rollback.error} />}
        <DialogActions
          note={
            runLevel
              ? 'You can undo this until something newer completes.'
              : 'You can undo this from the run page.'
          }
        >
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="filled"
            color={runLevel ? 'red' : undefined}
            leftSection={<IconArrowBackUp size={16} />}
            loading={rollback.isPending}
            disabled={!ready}
            onClick={() => request !== null && rollback.mutate(request)}
          >
            {runLevel
              ? earlierRunLabel(preview.data?.rolled_back_items.deleted_runs.length ?? 0, target?.version)
              : checkpointLabel(position)}
          </Button>
        </DialogActions>
      </div>
    </>
  )
}

function rollbackRequest(
  run: Run,
  level: Level,
  position: number | null,
  target: Target | null,
): CreateRollbackRequest | null {
  if (level === 'checkpoint_level') {
    return position === null
      ? null
      : { rollback_type: level, source_run_id: run.run_id, target_checkpoint_position: position }
  }
  return target === null || target.position === null
    ? null
    : {
        rollback_type: level,
        source_run_id: run.run_id,
        target_run_id: target.runId,
        target_checkpoint_position: target.position,
      }
}

/** The last completed checkpoint before the current one: the smallest rollback. */
function defaultPosition(run: Run): number | null {
  const completed = run.checkpoints.filter((item) => item.status === 'completed').map((item) => item.position)
  const started = run.checkpoints.filter((item) => item.status !== 'upcoming').map((item) => item.position)
  const furthest = Math.max(-1, ...started)
  const before = completed.filter((position) => position < furthest)
  return before.at(-1) ?? (started.length > 0 ? -1 : null)
}

const checkpointLabel = (position: number | null) =>
  position === null || position < 0 ? 'Roll back to the start' : `Roll back to checkpoint ${position + 1}`

const earlierRunLabel = (runs: number, version: number | undefined) =>
  `Roll back to ${version === undefined ? 'an earlier run' : `v${version}`}${runs > 0 ? ` (archives ${pluralize(runs, 'run')})` : ''}`
