import { Button, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { agentPages } from '~/api/agents'
import { useRoles } from '~/api/session'
import type { LibraryAgent } from '~/api/types'
import { originLabel, toolsLabel } from '~/lib/agents'
import { pluralize } from '~/lib/formatting'
import { canEdit } from '~/lib/states'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { Page, Panel } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { AgentEditor } from './AgentEditor'
import styles from './Agents.module.css'

const route = getRouteApi('/agents')

/** The agent library, whose agents any pipeline can use. */
export function AgentsPage() {
  const { new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const allowed = canEdit(useRoles())
  if (isNew === true && allowed)
    return (
      <Page title="New agent" crumbs={[{ label: 'Agents', link: { to: '/agents', search: {} } }]}>
        <h1>New agent</h1>
        <AgentEditor agent={null} stored="" onLeave={() => void navigate({ search: {} })} />
      </Page>
    )
  return (
    <Page
      title="Agents"
      actions={
        allowed && (
          <Button
            variant="filled"
            leftSection={<IconPlus size={16} />}
            onClick={() => void navigate({ search: { new: true } })}
          >
            New agent
          </Button>
        )
      }
    >
      <h1>Agents</h1>
      <p className={styles.lead}>
        Use an agent in a checkpoint with <code>agent: NAME</code>. Settings in the checkpoint override those
        of the agent.
      </p>
      <Agents />
    </Page>
  )
}

function Agents() {
  const [search, setSearch] = useState('')
  const pages = useInfiniteQuery(agentPages(search.trim()))
  const agents = pages.data?.pages.flatMap((page) => page.items)
  return (
    <>
      <TextInput
        className={styles.search}
        aria-label="Search agents"
        placeholder="Search agents"
        leftSection={<IconSearch size={15} />}
        value={search}
        maxLength={200}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {pages.error !== null ? (
        <LoadError title="Couldn't load agents." error={pages.error} retry={() => void pages.refetch()} />
      ) : agents === undefined ? (
        <LoadingRows rows={6} label="Loading agents" />
      ) : agents.length === 0 ? (
        <EmptyState
          title="No agents found"
          action={<Button onClick={() => setSearch('')}>Show all agents</Button>}
        />
      ) : (
        <Panel>
          <ul aria-label="Agents">
            {agents.map((agent) => (
              <Row key={agent.name} agent={agent} />
            ))}
          </ul>
        </Panel>
      )}
      <LoadMoreButton pages={pages} />
    </>
  )
}

function Row({ agent }: { agent: LibraryAgent }) {
  return (
    <li className={styles.row}>
      <div className={styles.name}>
        <Link to="/agents/$name" params={{ name: agent.name }}>
          {agent.title}
        </Link>
        <code>{agent.name}</code>
      </div>
      <p className={styles.description}>{agent.description || agent.role}</p>
      <p className={styles.facts}>
        <span>{originLabel(agent)}</span>
        {agent.tools !== null && agent.tools.length > 0 && <span>{toolsLabel(agent.tools)}</span>}
        <span>
          {agent.used_count === 0 ? 'not used' : `used in ${pluralize(agent.used_count, 'pipeline')}`}
        </span>
      </p>
    </li>
  )
}
