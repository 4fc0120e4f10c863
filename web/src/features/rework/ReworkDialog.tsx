import { Button, Modal, Radio, Textarea } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createRework, previewRework } from '~/api/commands'
import type { Execution, Run, RunCheckpoint } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { DialogActions } from '~/ui/DialogActions'
import { TargetOption } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { useNow } from '~/ui/Time'
import { ReworkImpact } from './ReworkImpact'

/** The selected checkpoint and its execution. */
export type ReworkRequester = { item: RunCheckpoint; execution: Execution }

type Props = {
  run: Run
  /** The requester. Null keeps the dialog closed. */
  requester: ReworkRequester | null
  onClose: () => void
  onDone: (rework: Execution) => void
}

/** Requests the rework of an earlier checkpoint and shows its impact first. */
export function ReworkDialog({ run, requester, onClose, onDone }: Props) {
  return (
    <Modal
      opened={requester !== null}
      onClose={onClose}
      size={780}
      title={`Request rework from ${requester?.item.name ?? ''}`}
      padding={0}
      classNames={{ header: styles.header, body: styles.modal }}
    >
      {requester !== null && <Content run={run} requester={requester} onClose={onClose} onDone={onDone} />}
    </Modal>
  )
}

function Content({ run, requester, onClose, onDone }: Props & { requester: ReworkRequester }) {
  const { item, execution } = requester
  const client = useQueryClient()
  const now = useNow()
  const earlier = run.checkpoints.filter((other) => other.position < item.position)
  const [key, setKey] = useState(() => earlier.findLast((other) => other.status === 'completed')?.key ?? null)
  const [prompt, setPrompt] = useState('')
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)

  const preview = useQuery({
    queryKey: ['run', run.run_id, 'rework preview', execution.execution_id, key],
    queryFn: ({ signal }) => previewRework(execution.execution_id, key ?? '', signal),
    enabled: key !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const ready = key !== null && preview.data !== undefined && !preview.isError && !preview.isPlaceholderData

  const rework = useMutation({
    mutationFn: () => {
      const body = { checkpoint: key ?? '', prompt: prompt.trim(), reason: reason.trim() }
      return createRework(execution.execution_id, body)
    },
    onSuccess: (created) => {
      onDone(created)
      for (const key of ['run', 'runs', 'pipelines', 'approvals'])
        void client.invalidateQueries({ queryKey: [key] })
    },
    onError: () => void preview.refetch(),
  })
  const submit = () => {
    if (prompt.trim() === '') setMissing(true)
    else rework.mutate()
  }

  return (
    <>
      <div className={styles.columns}>
        <div className={styles.targets}>
          <Radio.Group label="Checkpoint to redo" value={key ?? ''} onChange={setKey}>
            <div className={styles.list}>
              {earlier.map((other) => (
                <TargetOption
                  key={other.checkpoint_id}
                  value={other.status === 'completed' ? other.key : null}
                  name={`${other.position + 1}. ${other.name}`}
                  note={
                    other.status === 'completed' && other.completed_at !== null
                      ? formatTime(other.completed_at, now)
                      : 'not completed'
                  }
                />
              ))}
            </div>
          </Radio.Group>
          <Textarea
            data-autofocus
            label="Instructions"
            description="Passed to the checkpoint that is redone."
            value={prompt}
            error={missing && prompt.trim() === '' && 'Enter instructions.'}
            onChange={(event) => setPrompt(event.currentTarget.value)}
            minRows={3}
          />
          <Textarea
            label="Reason (optional)"
            description="Recorded in the events."
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </div>
        <div className={styles.impact} aria-live="polite">
          <h3>Impact</h3>
          {key === null ? (
            <p className={styles.hint}>No earlier checkpoint is completed.</p>
          ) : preview.isError ? (
            <ProblemNotice title="This isn't possible." error={preview.error} />
          ) : (
            <ReworkImpact preview={preview.data} />
          )}
        </div>
      </div>
      <div className={styles.footer}>
        {rework.error !== null && (
          <ProblemNotice title="Couldn't request the rework. Your text is still here." error={rework.error} />
        )}
        <DialogActions note="The run's prompt does not change.">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="filled"
            leftSection={<IconArrowBackUp size={16} />}
            loading={rework.isPending}
            disabled={!ready}
            onClick={submit}
          >
            Redo {preview.data?.checkpoint_name ?? ''}
          </Button>
        </DialogActions>
      </div>
    </>
  )
}
