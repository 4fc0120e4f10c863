import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LibraryAgent } from '~/api/types'
import { toolsLabel } from '~/lib/agents'
import { formatValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import styles from './Agents.module.css'

/** The prompts, model, tools and schemas of an agent, and the pipelines that use it. */
export function AgentDetails({ agent }: { agent: LibraryAgent }) {
  const texts = [
    ['System prompt', agent.system_prompt],
    ['Task', agent.task_prompt],
  ] as const
  const documents = [
    ['Model settings', Object.keys(agent.model_settings).length > 0 ? agent.model_settings : null],
    ['Input schema', agent.input_schema],
    ['Output schema', agent.output_schema],
  ] as const
  return (
    <div className={styles.agent}>
      {agent.description !== '' && <p>{agent.description}</p>}
      <dl className={styles.list}>
        {agent.role !== null && <Detail name="Role">{agent.role}</Detail>}
        <Detail name="Model">
          {agent.model === null ? 'from the checkpoint or the settings' : <code>{agent.model}</code>}
        </Detail>
        <Detail name="Tools">{toolsLabel(agent.tools)}</Detail>
        <Detail name="Used by">{agent.used_count === 0 ? 'no pipelines' : <Users agent={agent} />}</Detail>
      </dl>
      {texts.map(
        ([title, text]) =>
          text !== null && (
            <section key={title} className={styles.section}>
              <h2>{title}</h2>
              <Code text={text} label={title} wrap />
            </section>
          ),
      )}
      {documents.map(
        ([title, document]) =>
          document !== null && (
            <section key={title} className={styles.section}>
              <h2>{title}</h2>
              <Code text={formatValue(document)} label={title} wrap />
            </section>
          ),
      )}
    </div>
  )
}

function Users({ agent }: { agent: LibraryAgent }) {
  const more = agent.used_count - agent.used_by.length
  return (
    <ul className={styles.users}>
      {agent.used_by.map(({ pipeline_id, pipeline_name }) => (
        <li key={pipeline_id}>
          <Link to="/pipelines/$pipelineId" params={{ pipelineId: pipeline_id }}>
            {pipeline_name}
          </Link>
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ul>
  )
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
