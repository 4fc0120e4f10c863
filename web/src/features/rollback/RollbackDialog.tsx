import { Button, Modal, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { previewRollback, rollBack } from '~/api/changes'
import type { CreateRollbackRequest, Rollback, Run } from '~/api/types'
import { newId } from '~/lib/ids'
import { asProblem, type Problem } from '~/lib/problems'
import { count } from '~/lib/sizes'
import { Actions } from '~/ui/Actions'
import { Refusal } from '~/ui/Failure'
import styles from '~/ui/Weighing.module.css'
import { Consequences } from './Consequences'
import { EarlierRun, type Target, WithinRun } from './Targets'

type Level = 'checkpoint_level' | 'run_level'
type Props = { run: Run; opened: boolean; onClose: () => void; onDone: (rollback: Rollback) => void }

/** Going back, with everything that will happen said before. */
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
  const [position, setPosition] = useState<number | null>(() => lastBefore(run))
  const [target, setTarget] = useState<Target | null>(null)
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  // One id for this dialog: pressing twice, or again after a lost answer, goes back once.
  const [rollbackId] = useState(newId)

  const order = orderOf(run, level, position, target)
  const preview = useQuery({
    queryKey: ['run', run.run_id, 'rollback preview', order],
    queryFn: ({ signal }) => previewRollback(order as CreateRollbackRequest, signal),
    enabled: order !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const runLevel = level === 'run_level'
  const confirmed = !runLevel || typed.trim() === run.pipeline_name
  const ready =
    order !== null &&
    preview.data !== undefined &&
    !preview.isError &&
    !preview.isPlaceholderData &&
    confirmed

  const go = async () => {
    if (order === null) return
    setBusy(true)
    setProblem(null)
    try {
      onDone(await rollBack({ ...order, user_reason: reason.trim() || undefined, rollback_id: rollbackId }))
    } catch (error) {
      setProblem(asProblem(error))
      setBusy(false)
      void preview.refetch()
      return
    }
    for (const key of ['run', 'runs', 'pipelines', 'pipeline', 'approvals'])
      void client.invalidateQueries({ queryKey: [key] })
  }

  return (
    <>
      <div className={styles.columns}>
        <div className={styles.choice}>
          {run.run_version !== null && (
            <SegmentedControl
              fullWidth
              aria-label="How far back"
              value={level}
              onChange={(value) => setLevel(value as Level)}
              data={[
                { value: 'checkpoint_level', label: `Within ${version(run)}` },
                { value: 'run_level', label: 'To an earlier run' },
              ]}
            />
          )}
          {runLevel ? (
            <EarlierRun run={run} target={target} onChoose={setTarget} />
          ) : (
            <WithinRun run={run} position={position} onChoose={setPosition} />
          )}
          <Textarea
            label="Reason (optional)"
            description="Kept in the event record"
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
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
        </div>
        <div className={styles.what} aria-live="polite">
          <h3>What happens</h3>
          {order === null ? (
            <p className={styles.hint}>Choose where to go back to.</p>
          ) : preview.isError ? (
            <Refusal title="This is not possible." error={preview.error} />
          ) : (
            <Consequences preview={preview.data} target={target?.version ?? null} />
          )}
        </div>
      </div>
      <div className={styles.foot}>
        {problem !== null && <Refusal title="Nothing was rolled back." error={problem} />}
        <Actions
          note={
            runLevel
              ? 'Can be undone until something newer completes.'
              : 'You can undo this from the run page.'
          }
        >
          <Button onClick={onClose}>Keep everything</Button>
          <Button
            variant="filled"
            color={runLevel ? 'red' : undefined}
            leftSection={<IconArrowBackUp size={16} />}
            loading={busy}
            disabled={!ready}
            onClick={() => void go()}
          >
            {runLevel
              ? runLabel(preview.data?.rolled_back_items.deleted_runs.length ?? 0, target?.version)
              : label(position)}
          </Button>
        </Actions>
      </div>
    </>
  )
}

function orderOf(
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

/** The last completed checkpoint that something stands after: the mildest way back. */
function lastBefore(run: Run): number | null {
  const done = run.trail.filter((item) => item.status === 'completed').map((item) => item.position)
  const begun = run.trail.filter((item) => item.status !== 'upcoming').map((item) => item.position)
  const furthest = Math.max(-1, ...begun)
  const before = done.filter((position) => position < furthest)
  return before.at(-1) ?? (begun.length > 0 ? -1 : null)
}

const label = (position: number | null) =>
  position === null || position < 0
    ? 'Roll back to the very beginning'
    : `Roll back to checkpoint ${position + 1}`

const runLabel = (runs: number, version: number | undefined) =>
  `${runs > 0 ? `Archive ${count(runs, 'run')}, go` : 'Go'} back to ${version === undefined ? 'an earlier run' : `v${version}`}`
