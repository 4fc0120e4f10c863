import { Button, Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { deletePipeline, restorePipeline } from '~/api/commands'
import { asProblem, type Problem } from '~/lib/problems'
import { DialogActions } from '~/ui/DialogActions'
import { showToast, showUndoToast } from '~/ui/toasts'

type PipelineDeletion = {
  busy: boolean
  deleteNow: () => Promise<boolean>
  restore: () => Promise<boolean>
  dialog: ReactNode
}

/** Deletes at once, because it can be undone; asks only when a run is open and would be cancelled. */
export function useDeletePipeline(
  pipeline: { pipeline_id: string; pipeline_name: string },
  onDeleted?: () => void,
): PipelineDeletion {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { pipeline_id: id, pipeline_name: name } = pipeline

  const refresh = () => {
    for (const key of ['pipelines', 'pipeline', 'runs', 'approvals'])
      void client.invalidateQueries({ queryKey: [key] })
  }
  const restore = async () => {
    setBusy(true)
    try {
      await restorePipeline(id)
      showToast(`${name} is back.`)
      return true
    } catch (error) {
      setProblem(asProblem(error))
      return false
    } finally {
      refresh()
      setBusy(false)
    }
  }
  const deleteNow = async (force = false) => {
    setBusy(true)
    try {
      await deletePipeline(id, force)
      setProblem(null)
      showUndoToast(`${name} is deleted.`, () => void restore())
      onDeleted?.()
      return true
    } catch (error) {
      setProblem(asProblem(error))
      return false
    } finally {
      refresh()
      setBusy(false)
    }
  }
  const hasOpenRun = problem?.status === 409
  const dialog = (
    <Modal
      opened={problem !== null}
      onClose={() => setProblem(null)}
      title={hasOpenRun ? `${name} has an open run` : `${name} could not be changed`}
    >
      <p>{problem?.detail}</p>
      {hasOpenRun && (
        <p>Deleting it now cancels that run first. Everything goes to the archive and can be restored.</p>
      )}
      <DialogActions>
        <Button data-autofocus onClick={() => setProblem(null)}>
          Keep the pipeline
        </Button>
        {hasOpenRun && (
          <Button variant="filled" color="red" loading={busy} onClick={() => void deleteNow(true)}>
            Cancel the run and delete
          </Button>
        )}
      </DialogActions>
    </Modal>
  )
  return { busy, deleteNow: () => deleteNow(), restore, dialog }
}
