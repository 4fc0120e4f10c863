import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { agentText, deleteAgent, saveAgent } from '~/api/agents'
import type { LibraryAgent } from '~/api/types'
import { showUndoToast } from '~/ui/toasts'

/** Removes at once, because it can be undone; refused while pipelines use it. */
export function useDeleteAgent(agent: LibraryAgent, onDeleted: () => void) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['agents'] })
  const remove = async () => {
    setBusy(true)
    setError(null)
    try {
      const text = await client.fetchQuery(agentText(agent.name, agent.revision))
      await deleteAgent(agent.name, agent.revision)
      showUndoToast(`${agent.title} is removed.`, () => {
        void saveAgent(agent.name, text, null).then(refresh, setError)
      })
      if (!agent.replaces_ready_made) onDeleted()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
      void refresh()
    }
  }
  return { busy, error, remove }
}
