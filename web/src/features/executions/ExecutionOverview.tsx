import type { Execution, TrailItem } from '~/api/types'
import { costWords, short, tokensOf } from '~/lib/costs'
import { clock, duration } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { executionState, modeWord } from '~/lib/states'
import { waitWords } from '~/lib/waiting'
import { Notice } from '~/ui/Notice'
import { ProgressBar } from '~/ui/ProgressBar'
import { StateTag } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './ExecutionOverview.module.css'
import { Faults } from './FailedAttempts'
import { deed } from './interactions'
import { Validations } from './Validations'

const SANDBOXES = {
  bubblewrap: 'bubblewrap: it saw its workspace and nothing else',
  process: 'a process of its own with limits, not shut in',
}

/** What a checkpoint is, how its execution stands, and what people said to it. */
export function Overview({ item, execution }: { item: TrailItem; execution: Execution | undefined }) {
  const now = useNow()
  const error = execution?.error_details.last_error ?? null
  const waits = waitWords(item, now)
  return (
    <div className={styles.overview}>
      {item.description !== '' && <p className={styles.description}>{item.description}</p>}
      {item.status === 'failed' && (
        <Notice tone="red" title={`${item.name} failed.`}>
          {error?.error_message ?? item.error}
        </Notice>
      )}
      {execution?.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      {item.progress !== null && <ProgressBar {...item.progress} label={`Progress of ${item.name}`} />}
      {waits !== null && (
        <p>
          {item.name} {waits}.
        </p>
      )}
      {execution !== undefined && <Faults execution={execution} failed={item.status === 'failed'} />}
      {execution !== undefined && <Validations validations={execution.validations} />}
      <dl className={styles.facts}>
        <Fact name="State">
          <StateTag state={executionState(item, now)} />
        </Fact>
        <Fact name="Done by">{modeWord(item.mode)}</Fact>
        <Fact name="Approvals">{approvalWords(item)}</Fact>
        {item.needs.length > 0 && <Fact name="Needs">{item.needs.join(', ')}</Fact>}
        {item.started_at !== null && <Fact name="Started">{clock(item.started_at, now)}</Fact>}
        {item.completed_at !== null && <Fact name="Completed">{clock(item.completed_at, now)}</Fact>}
        {item.worked_seconds !== null && item.worked_seconds > 0 && (
          <Fact name="Worked">{duration(item.worked_seconds)}</Fact>
        )}
        {execution !== undefined && execution.max_attempts > 1 && (
          <Fact name="Attempt">
            {execution.attempt_number} of {execution.max_attempts}
          </Fact>
        )}
        {execution !== undefined && execution.revision_iteration > 0 && (
          <Fact name="Revision">
            {execution.revision_iteration} of {execution.max_revision_iterations}
          </Fact>
        )}
        {execution !== undefined && execution.usage.calls > 0 && (
          <Fact name="Models">
            {short(tokensOf(execution.usage))} tokens in {count(execution.usage.calls, 'call')},{' '}
            {costWords(execution.usage)}
          </Fact>
        )}
        {execution?.sandbox != null && <Fact name="Sandbox">{SANDBOXES[execution.sandbox]}</Fact>}
        {execution?.permanent_output_path != null && (
          <Fact name="Folder">
            <code>{execution.permanent_output_path}</code>
          </Fact>
        )}
      </dl>
      <Interactions execution={execution} />
    </div>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function approvalWords(item: TrailItem): string {
  if (item.asks_to_start && item.asks_to_complete) return 'before it starts and when it is done'
  if (item.asks_to_start) return 'before it starts'
  return item.asks_to_complete ? 'when it is done' : 'none'
}

/** What people decided, answered or asked for, the newest last. */
function Interactions({ execution }: { execution: Execution | undefined }) {
  const now = useNow()
  const interactions = execution?.human_interactions ?? []
  if (interactions.length === 0) return null
  return (
    <section aria-label="What people did" className={styles.people}>
      <h3>What people did</h3>
      <ol>
        {interactions.map((interaction) => (
          <li key={interaction.interaction_id}>
            <p>
              <strong>{interaction.actor}</strong> {deed(interaction)}
              <span className={styles.when}>{clock(interaction.timestamp, now)}</span>
            </p>
            {interaction.user_input !== '' && (
              <blockquote className={styles.said}>{interaction.user_input}</blockquote>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
