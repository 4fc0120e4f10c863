import { Button, Modal, Textarea } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { startRun } from '~/api/commands'
import * as queries from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { jsonFault, parseJson, prettyValue } from '~/lib/json'
import { sampleInput } from '~/lib/sampleInput'
import { Actions } from '~/ui/DialogActions'
import { LoadingText } from '~/ui/Loading'
import { Refusal } from '~/ui/ProblemNotice'
import { nextVersion, startWords } from './runVersions'
import styles from './StartDialog.module.css'

type Props = { pipelineId: string; opened: boolean; onClose: () => void }

/** Starts the next version, with an input and a prompt where wanted. */
export function StartDialog({ pipelineId, opened, onClose }: Props) {
  const { data: pipeline } = useQuery({ ...queries.pipeline(pipelineId), enabled: opened })
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={560}
      title={pipeline === undefined ? 'Start a run' : `Start ${pipeline.pipeline_name}`}
    >
      {pipeline === undefined ? <LoadingText /> : <StartForm pipeline={pipeline} onClose={onClose} />}
    </Modal>
  )
}

/** What the schema offers as a start, so that nobody begins with an empty box where an input is wanted. */
function openingInput(pipeline: Pipeline): string {
  const sample = sampleInput(pipeline.input_schema)
  return sample === undefined ? '' : prettyValue(sample)
}

function StartForm({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: runs } = useQuery(queries.pipelineRuns(pipeline.pipeline_id, true))
  const key = draftKey(pipeline.pipeline_id, pipeline.revision, 'start')
  const [draft, setDraft] = useState(() => {
    const kept = readDraft(sessionStorage, key)
    return { input: String(kept?.input ?? openingInput(pipeline)), prompt: String(kept?.prompt ?? '') }
  })
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const [fault, setFault] = useState<string | null>(null)
  const words =
    runs === undefined ? 'Start' : startWords(nextVersion(runs.items, pipeline.pipeline_definition_version))
  const wantsInput = pipeline.input_schema !== null && pipeline.input_schema !== undefined

  const write = (change: Partial<typeof draft>) => {
    const next = { ...draft, ...change }
    setDraft(next)
    setFault(null)
    keepDraft(sessionStorage, key, next)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const given = draft.input.trim()
    const wrong = given === '' ? null : jsonFault(given)
    setFault(wrong)
    if (wrong !== null) return
    setBusy(true)
    setRefusal(null)
    try {
      const run = await startRun({
        pipeline_id: pipeline.pipeline_id,
        ...(given === '' ? {} : { input: parseJson(given) }),
        ...(draft.prompt.trim() === '' ? {} : { original_prompt: draft.prompt.trim() }),
      })
      dropDraft(sessionStorage, key)
      for (const name of ['pipelines', 'pipeline', 'runs', 'approvals'])
        void client.invalidateQueries({ queryKey: [name] })
      await navigate({ to: '/runs/$runId', params: { runId: run.run_id } })
    } catch (error) {
      setRefusal(error)
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit} className={styles.start}>
      {refusal !== null && <Refusal title="The run was not started." error={refusal} />}
      <Textarea
        label="Prompt (optional)"
        description={
          pipeline.original_prompt
            ? `Left empty, the pipeline's own is used: ${pipeline.original_prompt}`
            : 'What this run is about. It never changes during the run.'
        }
        value={draft.prompt}
        onChange={(event) => write({ prompt: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label={wantsInput ? 'Input as JSON' : 'Input as JSON (optional)'}
        description={
          wantsInput ? 'Checked against the schema of the pipeline.' : 'Checkpoints can take fields from it.'
        }
        value={draft.input}
        onChange={(event) => write({ input: event.currentTarget.value })}
        error={fault !== null && `This is not JSON: ${fault}`}
        placeholder='{"customer": "…"}'
        spellCheck={false}
        classNames={{ input: styles.code }}
        minRows={4}
      />
      <Actions>
        <Button onClick={onClose}>Not now</Button>
        <Button type="submit" variant="filled" leftSection={<IconPlayerPlay size={16} />} loading={busy}>
          {words}
        </Button>
      </Actions>
    </form>
  )
}
