import { Button, Modal, Textarea } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { startRun } from '~/api/commands'
import * as queries from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { formatValue, jsonError, parseJson } from '~/lib/json'
import { sampleInput } from '~/lib/sampleInput'
import { DialogActions } from '~/ui/DialogActions'
import { LoadingText } from '~/ui/Loading'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { nextVersion, startLabel } from './runVersions'
import styles from './StartDialog.module.css'

type Props = { pipelineId: string; opened: boolean; onClose: () => void }

/** Starts a run with an optional prompt and input. */
export function StartDialog({ pipelineId, opened, onClose }: Props) {
  const { data: pipeline } = useQuery({ ...queries.pipeline(pipelineId), enabled: opened })
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={560}
      title={pipeline === undefined ? 'Start run' : `Start ${pipeline.pipeline_name}`}
    >
      {pipeline === undefined ? <LoadingText /> : <StartForm pipeline={pipeline} onClose={onClose} />}
    </Modal>
  )
}

/** Prefills the input from the defaults and examples of its schema. */
function initialInput(pipeline: Pipeline): string {
  const sample = sampleInput(pipeline.input_schema)
  return sample === undefined ? '' : formatValue(sample)
}

function StartForm({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: runs } = useQuery(queries.pipelineRuns(pipeline.pipeline_id, true))
  const key = draftKey(pipeline.pipeline_id, pipeline.revision, 'start')
  const [draft, setDraft] = useState(() => {
    const saved = readDraft(sessionStorage, key)
    return { input: String(saved?.input ?? initialInput(pipeline)), prompt: String(saved?.prompt ?? '') }
  })
  const [inputError, setInputError] = useState<string | null>(null)
  const submitLabel =
    runs === undefined ? 'Start' : startLabel(nextVersion(runs.items, pipeline.pipeline_definition_version))
  const requiresInput = pipeline.input_schema !== null && pipeline.input_schema !== undefined

  const start = useMutation({
    mutationFn: startRun,
    onSuccess: async (run) => {
      deleteDraft(sessionStorage, key)
      for (const name of ['pipelines', 'pipeline', 'runs', 'approvals'])
        void client.invalidateQueries({ queryKey: [name] })
      await navigate({ to: '/runs/$runId', params: { runId: run.run_id } })
    },
  })
  const updateDraft = (change: Partial<typeof draft>) => {
    const next = { ...draft, ...change }
    setDraft(next)
    setInputError(null)
    saveDraft(sessionStorage, key, next)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const input = draft.input.trim()
    const invalid = input === '' ? null : jsonError(input)
    setInputError(invalid)
    if (invalid !== null) return
    start.mutate({
      pipeline_id: pipeline.pipeline_id,
      ...(input === '' ? {} : { input: parseJson(input) }),
      ...(draft.prompt.trim() === '' ? {} : { original_prompt: draft.prompt.trim() }),
    })
  }
  return (
    <form onSubmit={submit} className={styles.start}>
      {start.error !== null && <ProblemNotice title="Couldn't start the run." error={start.error} />}
      <Textarea
        label="Prompt (optional)"
        description={
          pipeline.original_prompt
            ? `Leave empty to use the pipeline's prompt: ${pipeline.original_prompt}`
            : "Describes what this run is about. It can't be changed later."
        }
        value={draft.prompt}
        onChange={(event) => updateDraft({ prompt: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label={requiresInput ? 'Input (JSON)' : 'Input (JSON, optional)'}
        description={
          requiresInput
            ? 'Validated against the input schema of the pipeline.'
            : 'Checkpoints can use its fields.'
        }
        value={draft.input}
        onChange={(event) => updateDraft({ input: event.currentTarget.value })}
        error={inputError !== null && `Invalid JSON: ${inputError}`}
        placeholder='{"customer": "…"}'
        spellCheck={false}
        classNames={{ input: styles.code }}
        minRows={4}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant="filled"
          leftSection={<IconPlayerPlay size={16} />}
          loading={start.isPending}
        >
          {submitLabel}
        </Button>
      </DialogActions>
    </form>
  )
}
