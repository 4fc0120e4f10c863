import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { savePipeline } from '~/api/commands'
import { definition } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { asProblem } from '~/lib/problems'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Definition.module.css'
import { DefinitionEditor } from './DefinitionEditor'

type Props = { pipeline: Pipeline; editing: boolean; canEdit: boolean; onEdit: (editing: boolean) => void }

/** The definition as YAML, for reading or editing. */
export function DefinitionView({ pipeline, editing, canEdit, onEdit }: Props) {
  // Keeps the editor on the page while another revision is loaded.
  const { data, error, refetch } = useQuery({
    ...definition(pipeline.pipeline_id, pipeline.revision),
    placeholderData: keepPreviousData,
  })
  if (error !== null)
    return <LoadError title="Couldn't load the definition." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={6} />
  if (editing)
    return <DefinitionEdit key={pipeline.pipeline_id} pipeline={pipeline} stored={data} onEdit={onEdit} />
  return (
    <div className={styles.definition}>
      {canEdit && (
        <Button leftSection={<IconPencil size={16} />} onClick={() => onEdit(true)}>
          Edit
        </Button>
      )}
      <Code text={data} label={`Definition of ${pipeline.pipeline_name}`} lines />
    </div>
  )
}

type EditingProps = { pipeline: Pipeline; stored: string; onEdit: (editing: boolean) => void }

function DefinitionEdit({ pipeline, stored, onEdit }: EditingProps) {
  const client = useQueryClient()
  const key = draftKey(pipeline.pipeline_id, 0, 'definition')
  // An edit keeps the revision it started from, also after a reload, so that saving detects newer revisions.
  const [draft, setDraft] = useState(() => {
    const saved = readDraft(sessionStorage, key)
    return saved === null
      ? { text: stored, revision: pipeline.revision }
      : { text: String(saved.text), revision: Number(saved.revision) }
  })
  const updateText = (text: string) => {
    const next = { ...draft, text }
    setDraft(next)
    if (save.isError) save.reset()
    saveDraft(sessionStorage, key, next)
  }
  const leave = () => {
    deleteDraft(sessionStorage, key)
    onEdit(false)
  }
  const save = useMutation({
    mutationFn: ({ revision, force = false }: { revision: number; force?: boolean }) =>
      savePipeline(pipeline.pipeline_id, draft.text, revision, force),
    onSuccess: (saved) => {
      client.setQueryData(['pipeline', pipeline.pipeline_id], saved)
      void client.invalidateQueries({ queryKey: ['pipeline', pipeline.pipeline_id] })
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      showToast(`Saved as revision ${saved.revision}.`)
      leave()
    },
    onError: (error) => {
      if (asProblem(error).status === 412)
        void client.invalidateQueries({ queryKey: ['pipeline', pipeline.pipeline_id] })
    },
  })
  const problem = save.error === null ? null : asProblem(save.error)
  const isOutdated = draft.revision !== pipeline.revision || problem?.status === 412
  return (
    <DefinitionEditor
      text={draft.text}
      onChange={updateText}
      footer={
        <div className={styles.footer}>
          {isOutdated && (
            <Notice tone="ochre" title="Someone else saved a new revision. Your text is still here.">
              Your edit is based on revision {draft.revision}. See the history for newer changes.
            </Notice>
          )}
          {problem !== null && !isOutdated && (
            <ProblemNotice title="Couldn't save the definition. Your text is still here." error={problem} />
          )}
          <div className={styles.buttons}>
            <Button onClick={leave}>Discard changes</Button>
            {isOutdated ? (
              <Button
                variant="filled"
                color="red"
                loading={save.isPending}
                onClick={() => save.mutate({ revision: pipeline.revision })}
              >
                Overwrite
              </Button>
            ) : problem?.status === 409 ? (
              <Button
                variant="filled"
                color="red"
                loading={save.isPending}
                onClick={() => save.mutate({ revision: draft.revision, force: true })}
              >
                Cancel open runs and save
              </Button>
            ) : (
              <Button
                variant="filled"
                loading={save.isPending}
                disabled={draft.text === stored}
                onClick={() => save.mutate({ revision: draft.revision })}
              >
                Save definition
              </Button>
            )}
          </div>
        </div>
      }
    />
  )
}
