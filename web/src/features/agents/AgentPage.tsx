import { Button, Tabs } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { agent as agentQuery, agentText } from '~/api/agents'
import { useRoles } from '~/api/session'
import type { LibraryAgent } from '~/api/types'
import { originLabel } from '~/lib/agents'
import { canEdit } from '~/lib/states'
import { LoadingRows, LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { AgentDetails } from './AgentDetails'
import { AgentEditor } from './AgentEditor'
import { AgentRevisions } from './AgentRevisions'
import styles from './Agents.module.css'
import { useDeleteAgent } from './useDeleteAgent'

const route = getRouteApi('/agents/$name')
const CRUMBS = [{ label: 'Agents', link: { to: '/agents', search: {} } }] as const

/** An agent of the library with its revisions. */
export function AgentPage() {
  const { name } = route.useParams()
  const { data, error, refetch } = useQuery(agentQuery(name))
  if (data !== undefined && error === null) return <AgentView key={name} agent={data} />
  return (
    <Page title={name} crumbs={[...CRUMBS]}>
      <h1>{name}</h1>
      {error !== null ? (
        <LoadError title="Couldn't load this agent." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={5} label="Loading agent" />
      )}
    </Page>
  )
}

function AgentView({ agent }: { agent: LibraryAgent }) {
  const { edit, tab } = route.useSearch()
  const navigate = route.useNavigate()
  const allowed = canEdit(useRoles())
  const deletion = useDeleteAgent(agent, () => void navigate({ to: '/agents', search: {} }))
  const show = (search: { edit?: boolean; tab?: 'revisions' }) => void navigate({ search, replace: true })
  const isEdited = edit === true && allowed
  const [warnings, setWarnings] = useState<readonly string[]>([])
  return (
    <Page
      title={agent.title}
      crumbs={[...CRUMBS]}
      actions={
        allowed &&
        !isEdited && (
          <>
            {!agent.is_builtin && (
              <Button
                leftSection={<IconTrash size={16} />}
                loading={deletion.busy}
                onClick={deletion.deleteNow}
              >
                {agent.overrides_builtin ? 'Restore built-in agent' : 'Delete agent'}
              </Button>
            )}
            <Button leftSection={<IconPencil size={16} />} onClick={() => show({ edit: true })}>
              Edit
            </Button>
          </>
        )
      }
    >
      <h1>{agent.title}</h1>
      <p className={styles.lead}>
        <code>{agent.name}</code>, {originLabel(agent)}
        {agent.revision > 0 && `, revision ${agent.revision}`}
      </p>
      {deletion.error !== null && <ProblemNotice title="Couldn't delete the agent." error={deletion.error} />}
      {!isEdited && warnings.length > 0 && (
        <Notice
          tone="ochre"
          title="Saved. Some pipelines are no longer compatible with this agent."
          actions={<Button onClick={() => setWarnings([])}>Dismiss</Button>}
        >
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Notice>
      )}
      {isEdited ? (
        <Editing agent={agent} onLeave={() => show({})} onSaved={setWarnings} />
      ) : (
        <Tabs
          value={tab ?? 'agent'}
          onChange={(value) => show(value === 'revisions' ? { tab: 'revisions' } : {})}
          keepMounted={false}
        >
          <Tabs.List className={styles.tabs}>
            <Tabs.Tab value="agent">Agent</Tabs.Tab>
            <Tabs.Tab value="revisions">Revisions</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="agent">
            <AgentDetails agent={agent} />
          </Tabs.Panel>
          <Tabs.Panel value="revisions">
            <AgentRevisions agent={agent} canRevert={allowed} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  )
}

type EditingProps = {
  agent: LibraryAgent
  onLeave: () => void
  onSaved: (warnings: readonly string[]) => void
}

function Editing({ agent, onLeave, onSaved }: EditingProps) {
  const { data, error, refetch } = useQuery(agentText(agent.name, agent.revision))
  if (error !== null)
    return (
      <LoadError title="Couldn't load the agent definition." error={error} retry={() => void refetch()} />
    )
  if (data === undefined) return <LoadingText lines={8} />
  return <AgentEditor agent={agent} stored={data} onLeave={onLeave} onSaved={onSaved} />
}
