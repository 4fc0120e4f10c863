import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { savePipeline } from '~/api/commands'
import { definition } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { asProblem, type Problem } from '~/lib/problems'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './Definition.module.css'
import { DefinitionEditor } from './DefinitionEditor'

type Props = { pipeline: Pipeline; editing: boolean; mayEdit: boolean; onEdit: (editing: boolean) => void }

/** The definition as YAML, to read or to change. */
export function Definition({ pipeline, editing, mayEdit, onEdit }: Props) {
  // What is being edited stays on the page while another revision is read.
  const { data, error, refetch } = useQuery({
    ...definition(pipeline.pipeline_id, pipeline.revision),
    placeholderData: keepPreviousData,
  })
  if (error !== null)
    return <Failure what="The definition could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={6} />
  if (editing) return <Editing key={pipeline.pipeline_id} pipeline={pipeline} stored={data} onEdit={onEdit} />
  return (
    <div className={styles.definition}>
      {mayEdit && (
        <Button leftSection={<IconPencil size={16} />} onClick={() => onEdit(true)}>
          Edit
        </Button>
      )}
      <Code text={data} label={`Definition of ${pipeline.pipeline_name}`} lines />
    </div>
  )
}

type EditingProps = { pipeline: Pipeline; stored: string; onEdit: (editing: boolean) => void }

function Editing({ pipeline, stored, onEdit }: EditingProps) {
  const client = useQueryClient()
  const key = draftKey(pipeline.pipeline_id, 0, 'definition')
  // An edit belongs to the revision it began with, also after a reload: if that is no longer the newest, saving says so.
  const [draft, setDraft] = useState(() => {
    const kept = readDraft(sessionStorage, key)
    return kept === null
      ? { text: stored, revision: pipeline.revision }
      : { text: String(kept.text), revision: Number(kept.revision) }
  })
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const write = (text: string) => {
    const next = { ...draft, text }
    setDraft(next)
    setProblem(null)
    keepDraft(sessionStorage, key, next)
  }
  const leave = () => {
    dropDraft(sessionStorage, key)
    onEdit(false)
  }
  const save = async (revision: number, force = false) => {
    setBusy(true)
    setProblem(null)
    try {
      const saved = await savePipeline(pipeline.pipeline_id, draft.text, revision, force)
      client.setQueryData(['pipeline', pipeline.pipeline_id], saved)
      void client.invalidateQueries({ queryKey: ['pipeline', pipeline.pipeline_id] })
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      tell(`Saved as revision ${saved.revision}.`)
      leave()
    } catch (error) {
      const refusal = asProblem(error)
      setProblem(refusal)
      setBusy(false)
      if (refusal.status === 412)
        void client.invalidateQueries({ queryKey: ['pipeline', pipeline.pipeline_id] })
    }
  }
  const behind = draft.revision !== pipeline.revision || problem?.status === 412
  return (
    <DefinitionEditor
      text={draft.text}
      onChange={write}
      foot={
        <div className={styles.foot}>
          {behind && (
            <Notice tone="ochre" title="Somebody saved another revision. Your text is kept.">
              It began with revision {draft.revision}. Look at the history for what was changed since.
            </Notice>
          )}
          {problem !== null && !behind && <Refusal title="Not saved. Your text is kept." error={problem} />}
          <div className={styles.buttons}>
            <Button onClick={leave}>Discard the changes</Button>
            {behind ? (
              <Button
                variant="filled"
                color="red"
                loading={busy}
                onClick={() => void save(pipeline.revision)}
              >
                Save over it
              </Button>
            ) : problem?.status === 409 ? (
              <Button
                variant="filled"
                color="red"
                loading={busy}
                onClick={() => void save(draft.revision, true)}
              >
                Cancel the open run and save
              </Button>
            ) : (
              <Button
                variant="filled"
                loading={busy}
                disabled={draft.text === stored}
                onClick={() => void save(draft.revision)}
              >
                Save the definition
              </Button>
            )}
          </div>
        </div>
      }
    />
  )
}
