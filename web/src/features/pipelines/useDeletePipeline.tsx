import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { deletePipeline, restorePipeline } from '~/api/commands'
import { asProblem } from '~/lib/problems'
import { DialogActions } from '~/ui/DialogActions'
import { showToast, showUndoToast } from '~/ui/toasts'

type PipelineDeletion = {
  busy: boolean
  deleteNow: () => void
  restore: () => void
  dialog: ReactNode
}

/** Deletes without asking first, because it can be undone. Asks only if open runs would be cancelled. */
export function useDeletePipeline(
  pipeline: { pipeline_id: string; pipeline_name: string },
  onDeleted?: () => void,
): PipelineDeletion {
  const client = useQueryClient()
  const { pipeline_id: id, pipeline_name: name } = pipeline

  const refresh = () => {
    for (const key of ['pipelines', 'pipeline', 'runs', 'approvals'])
      void client.invalidateQueries({ queryKey: [key] })
  }
  const restore = useMutation({
    mutationFn: () => restorePipeline(id),
    onSuccess: () => showToast(`Restored ${name}.`),
    onSettled: refresh,
  })
  const deletion = useMutation({
    mutationFn: (force: boolean) => deletePipeline(id, force),
    onSuccess: () => {
      showUndoToast(`Deleted ${name}.`, () => restore.mutate())
      onDeleted?.()
    },
    onSettled: refresh,
  })
  const error = deletion.error ?? restore.error
  const problem = error === null ? null : asProblem(error)
  const clearProblem = () => {
    deletion.reset()
    restore.reset()
  }
  const hasOpenRun = problem?.status === 409
  const dialog = (
    <Modal
      opened={problem !== null}
      onClose={clearProblem}
      title={hasOpenRun ? `${name} has open runs` : `Couldn't change ${name}`}
    >
      <p>{problem?.detail}</p>
      {hasOpenRun && (
        <p>Deleting the pipeline cancels its open runs. You can restore everything from the archive.</p>
      )}
      <DialogActions>
        <Button data-autofocus onClick={clearProblem}>
          Cancel
        </Button>
        {hasOpenRun && (
          <Button
            variant="filled"
            color="red"
            loading={deletion.isPending}
            onClick={() => deletion.mutate(true)}
          >
            Cancel runs and delete
          </Button>
        )}
      </DialogActions>
    </Modal>
  )
  return {
    busy: deletion.isPending || restore.isPending,
    deleteNow: () => deletion.mutate(false),
    restore: () => restore.mutate(),
    dialog,
  }
}
