import { useMutation, useQueryClient } from '@tanstack/react-query'
import { agentText, deleteAgent, saveAgent } from '~/api/agents'
import type { LibraryAgent } from '~/api/types'
import { showUndoToast } from '~/ui/toasts'

/** Deletes without asking first, because it can be undone. The server refuses while pipelines use the agent. */
export function useDeleteAgent(agent: LibraryAgent, onDeleted: () => void) {
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: ['agents'] })
  const restore = useMutation({
    mutationFn: (text: string) => saveAgent(agent.name, text, null),
    onSuccess: refresh,
  })
  const deletion = useMutation({
    mutationFn: async () => {
      const text = await client.fetchQuery(agentText(agent.name, agent.revision))
      await deleteAgent(agent.name, agent.revision)
      return text
    },
    onSuccess: (text) => {
      showUndoToast(`Deleted ${agent.title}.`, () => restore.mutate(text))
      if (!agent.overrides_builtin) onDeleted()
    },
    onSettled: () => void refresh(),
  })
  return {
    busy: deletion.isPending,
    error: deletion.error ?? restore.error,
    deleteNow: () => deletion.mutate(),
  }
}
