import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { agentText, removeAgent, saveAgent } from '~/api/agents'
import type { LibraryAgent } from '~/api/types'
import { tellWithUndo } from '~/ui/toasts'

/** Removes at once, because it can be undone; refused while pipelines use it. */
export function useRemoving(agent: LibraryAgent, onGone: () => void) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['agents'] })
  const remove = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const text = await client.fetchQuery(agentText(agent.name, agent.revision))
      await removeAgent(agent.name, agent.revision)
      tellWithUndo(`${agent.title} is removed.`, () => {
        void saveAgent(agent.name, text, null).then(refresh, setRefusal)
      })
      if (!agent.replaces_ready_made) onGone()
    } catch (error) {
      setRefusal(error)
    } finally {
      setBusy(false)
      void refresh()
    }
  }
  return { busy, refusal, remove }
}
