import { Button, Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { deletePipeline, restorePipeline } from '~/api/commands'
import { asProblem, type Problem } from '~/lib/problems'
import { Actions } from '~/ui/DialogActions'
import { tell, tellWithUndo } from '~/ui/toasts'

type Removal = {
  busy: boolean
  remove: () => Promise<boolean>
  restore: () => Promise<boolean>
  dialog: ReactNode
}

/** Deletes at once, because it can be undone; asks only when a run is open and would be cancelled. */
export function useRemoval(
  pipeline: { pipeline_id: string; pipeline_name: string },
  onRemoved?: () => void,
): Removal {
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
      tell(`${name} is back.`)
      return true
    } catch (error) {
      setProblem(asProblem(error))
      return false
    } finally {
      refresh()
      setBusy(false)
    }
  }
  const remove = async (force = false) => {
    setBusy(true)
    try {
      await deletePipeline(id, force)
      setProblem(null)
      tellWithUndo(`${name} is deleted.`, () => void restore())
      onRemoved?.()
      return true
    } catch (error) {
      setProblem(asProblem(error))
      return false
    } finally {
      refresh()
      setBusy(false)
    }
  }
  const open = problem?.status === 409
  const dialog = (
    <Modal
      opened={problem !== null}
      onClose={() => setProblem(null)}
      title={open ? `${name} has an open run` : `${name} could not be changed`}
    >
      <p>{problem?.detail}</p>
      {open && (
        <p>Deleting it now cancels that run first. Everything goes to the archive and can be restored.</p>
      )}
      <Actions>
        <Button data-autofocus onClick={() => setProblem(null)}>
          Keep the pipeline
        </Button>
        {open && (
          <Button variant="filled" color="red" loading={busy} onClick={() => void remove(true)}>
            Cancel the run and delete
          </Button>
        )}
      </Actions>
    </Modal>
  )
  return { busy, remove: () => remove(), restore, dialog }
}
