import { Tabs } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { Execution, Run, RunCheckpoint } from '~/api/types'
import { ExecutionForm } from '~/features/approvals/ExecutionForm'
import { FormReference } from '~/features/approvals/FormReference'
import { ArtifactBrowser } from '~/features/artifacts/ArtifactBrowser'
import { ConversationView } from '~/features/conversations/ConversationView'
import { EventList } from '~/features/events/EventList'
import { ContextView } from '~/features/executions/ContextView'
import { ExecutionOverview } from '~/features/executions/ExecutionOverview'
import { LogView } from '~/features/logs/LogView'
import { ReworkButton } from '~/features/rework/ReworkButton'
import { ReworkHistory } from '~/features/rework/ReworkHistory'
import { StaleNotice } from '~/features/rework/StaleNotice'
import { previousRun } from '~/lib/artifactChanges'
import { shortId } from '~/lib/formatting'
import { LoadingText } from '~/ui/Loading'
import styles from './RunPage.module.css'

type Props = {
  run: Run
  item: RunCheckpoint
  execution: Execution | undefined
  tab: string | undefined
  artifact: string | undefined
  showsForm: boolean
  canAnswer: boolean
  onTab: (tab: string | undefined) => void
  onArtifact: (recordId: string) => void
  onSending: (sending: boolean) => void
  canEdit: boolean
  onRework: () => void
}

const TABS = ['conversation', 'overview', 'artifacts', 'context', 'log', 'events']
/** These tabs fill the pane and scroll on their own. */
const FULL_HEIGHT_TABS = ['conversation', 'log']

/** One checkpoint of the run, with tabs for its form or overview, artifacts, context and log. */
export function ExecutionPane(props: Props) {
  const { run, item, execution, artifact, showsForm, onTab, onArtifact } = props
  const wide = useMediaQuery('(min-width: 1181px)', true)
  const artifacts = execution?.artifacts_generated ?? []
  const hasConversation = item.mode === 'agentic' || (execution?.usage.calls ?? 0) > 0
  const tabs = hasConversation ? TABS : TABS.slice(1)
  const tab = tabs.includes(props.tab ?? '')
    ? (props.tab as string)
    : defaultTab(item, artifacts.length, wide)
  const files = (
    <ArtifactBrowser
      artifacts={artifacts}
      selected={artifact}
      onSelect={onArtifact}
      emptyText={noArtifactsText(item)}
      previousRun={previousRun(run)}
    />
  )
  return (
    <>
      <section className={styles.execution} aria-label={item.name}>
        <Tabs
          value={tab}
          onChange={(value) => onTab(value ?? undefined)}
          keepMounted={false}
          className={styles.tabs}
        >
          <header className={styles.title}>
            <h2>
              {item.position + 1}. {item.name}
            </h2>
            {item.execution_id !== null && (
              <span className={styles.id}>
                execution <code>{shortId(item.execution_id)}</code>
              </span>
            )}
          </header>
          <Tabs.List className={styles.tabList}>
            {hasConversation && (
              <Tabs.Tab value="conversation">
                Conversation
                {item.status === 'in_progress' && <span className={styles.live} aria-hidden="true" />}
              </Tabs.Tab>
            )}
            <Tabs.Tab value="overview">{showsForm ? 'Form' : 'Overview'}</Tabs.Tab>
            <Tabs.Tab value="artifacts">
              Artifacts <span className={styles.count}>{artifacts.length > 0 && artifacts.length}</span>
            </Tabs.Tab>
            <Tabs.Tab value="context">Context</Tabs.Tab>
            <Tabs.Tab value="log">Log</Tabs.Tab>
            <Tabs.Tab value="events">Events</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="overview" className={styles.panel} tabIndex={0}>
            <OverviewTab {...props} wide={wide} />
          </Tabs.Panel>
          <Tabs.Panel value="artifacts" className={styles.panel} data-flush tabIndex={0}>
            {files}
          </Tabs.Panel>
          {(['conversation', 'context', 'log', 'events'] as const).map((name) => (
            <Tabs.Panel
              key={name}
              value={name}
              className={styles.panel}
              data-fill={(FULL_HEIGHT_TABS.includes(name) && item.execution_id !== null) || undefined}
              tabIndex={0}
            >
              {item.execution_id === null ? (
                <p className={styles.empty}>{item.name} hasn't started.</p>
              ) : name === 'conversation' ? (
                <ConversationView
                  key={item.execution_id}
                  runId={run.run_id}
                  executionId={item.execution_id}
                  item={item}
                />
              ) : name === 'context' ? (
                <ContextView runId={run.run_id} executionId={item.execution_id} />
              ) : name === 'log' ? (
                <LogView
                  key={item.execution_id}
                  runId={run.run_id}
                  executionId={item.execution_id}
                  name={item.name}
                />
              ) : (
                <EventList filter={{ run_id: run.run_id, execution_id: item.execution_id }} />
              )}
            </Tabs.Panel>
          ))}
        </Tabs>
      </section>
      {wide && tab !== 'artifacts' && tab !== 'log' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        <aside className={styles.sidebar} aria-label="Artifacts" tabIndex={0}>
          {showsForm && item.execution_id !== null && (
            <FormReference runId={run.run_id} executionId={item.execution_id} />
          )}
          {(!showsForm || artifacts.length > 0) && (
            <>
              <h2>
                Artifacts <span className={styles.count}>{artifacts.length}</span>
              </h2>
              {files}
            </>
          )}
        </aside>
      )}
    </>
  )
}

function OverviewTab(props: Props & { wide: boolean }) {
  const { run, item, execution, showsForm, canAnswer, onSending, canEdit, onRework, wide } = props
  if (item.execution_id !== null && execution === undefined) return <LoadingText lines={4} />
  // The run loads before its execution. Input into the form of an outdated revision would be lost.
  const isOld = execution !== undefined && execution.revision_iteration < item.revision_iteration
  if (showsForm && isOld) return <LoadingText lines={4} />
  const form = execution?.form ?? null
  if (showsForm && form !== null && execution !== undefined) {
    return (
      <>
        <ExecutionForm
          key={`${execution.execution_id}:${execution.revision_iteration}`}
          execution={execution}
          form={form}
          disabled={!canAnswer}
          onBusy={onSending}
        />
        {!wide && <FormReference runId={run.run_id} executionId={execution.execution_id} />}
      </>
    )
  }
  return (
    <>
      {execution !== undefined && <StaleNotice execution={execution} allowed={canEdit} />}
      <ExecutionOverview item={item} execution={execution} />
      {canEdit && execution?.available_commands.includes('rework') && <ReworkButton onClick={onRework} />}
      {execution !== undefined && <ReworkHistory execution={execution} />}
    </>
  )
}

/** These statuses open the conversation of an agent first, unless a person has to act. */
const CONVERSATION_FIRST: readonly string[] = ['in_progress', 'completed', 'waiting_approval_to_complete']

/** On narrow screens without the sidebar, artifacts that wait for approval come first. */
function defaultTab(item: RunCheckpoint, artifacts: number, wide: boolean): string {
  if (!wide && artifacts > 0 && item.status === 'waiting_approval_to_complete') return 'artifacts'
  return item.mode === 'agentic' && CONVERSATION_FIRST.includes(item.status) && item.waiting_on === null
    ? 'conversation'
    : 'overview'
}

function noArtifactsText(item: RunCheckpoint): string {
  return item.status === 'completed' || item.status === 'failed' || item.status === 'cancelled'
    ? 'No artifacts.'
    : 'No artifacts yet.'
}
