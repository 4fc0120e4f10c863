import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { agent as agentQuery, saveAgent } from '~/api/agents'
import type { LibraryAgent } from '~/api/types'
import { agentNameIn, EXAMPLE_AGENT } from '~/lib/agents'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { asProblem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import { YamlEditor } from '~/ui/YamlEditor'
import styles from './Agents.module.css'

type Props = {
  /** Null for a new agent. */
  agent: LibraryAgent | null
  stored: string
  onLeave: () => void
  onSaved?: (warnings: readonly string[]) => void
}

/** Edits an agent as YAML. The text survives a reload and is validated when it is saved. */
export function AgentEditor({ agent, stored, onLeave, onSaved }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const key = draftKey(agent?.name ?? '', agent?.revision ?? 0, 'agent')
  const [text, setText] = useState(() => String(readDraft(sessionStorage, key)?.text ?? stored))
  const name = agent?.name ?? agentNameIn(text)
  const save = useMutation({
    mutationFn: (agentName: string) => saveAgent(agentName, text, agent?.revision ?? 0),
    onSuccess: async ({ warnings, ...saved }, agentName) => {
      client.setQueryData(agentQuery(agentName).queryKey, saved)
      onSaved?.(warnings)
      void client.invalidateQueries({ queryKey: ['agents'] })
      deleteDraft(sessionStorage, key)
      showToast(`Saved ${saved.title}.`)
      await navigate({ to: '/agents/$name', params: { name: agentName }, search: {} })
    },
  })
  const problem = save.error === null ? null : asProblem(save.error)
  const updateText = (next: string) => {
    setText(next)
    if (save.isError) save.reset()
    saveDraft(sessionStorage, key, { text: next })
  }
  const leave = () => {
    deleteDraft(sessionStorage, key)
    onLeave()
  }
  return (
    <YamlEditor
      label="Agent (YAML)"
      hint="The agent is validated when you save it."
      text={text}
      onChange={updateText}
      checkName="agent check"
      extraFindings={(problem?.errors ?? []).map((item) => ({ ...item, severity: 'error' }))}
      footer={
        <div className={styles.footer}>
          {agent === null && text.trim() === '' && (
            <Button onClick={() => updateText(EXAMPLE_AGENT)}>Start from an example</Button>
          )}
          {agent === null && text.trim() !== '' && name === null && (
            <p className={styles.muted}>
              Add a name, for example <code>name: fact-checker</code>.
            </p>
          )}
          {agent?.is_builtin && (
            <Notice tone="grey" title="This agent is built in.">
              Saving creates your own version, which replaces the built-in agent. Delete your version to
              restore it.
            </Notice>
          )}
          {problem !== null && (
            <ProblemNotice title="Couldn't save the agent. Your text is still here." error={problem} />
          )}
          <div className={styles.buttons}>
            <Button onClick={leave}>Discard changes</Button>
            <Button
              variant="filled"
              loading={save.isPending}
              disabled={name === null || text.trim() === '' || text === stored}
              onClick={() => name !== null && save.mutate(name)}
            >
              Save agent
            </Button>
          </div>
        </div>
      }
    />
  )
}
