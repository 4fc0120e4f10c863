import type { Execution, RunCheckpoint } from '~/api/types'
import { compactNumber, costLabel, totalTokens } from '~/lib/costs'
import { formatDuration, formatTime } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { executionState, modeLabel } from '~/lib/states'
import { waitingText } from '~/lib/waiting'
import { Notice } from '~/ui/Notice'
import { ProgressBar } from '~/ui/ProgressBar'
import { StateTag } from '~/ui/StateTag'
import { useNow } from '~/ui/Time'
import styles from './ExecutionOverview.module.css'
import { FailedAttempts } from './FailedAttempts'
import { interactionText } from './interactions'
import { Validations } from './Validations'

const SANDBOXES = {
  bubblewrap: 'bubblewrap: access to its workspace only',
  process: 'separate process with resource limits, not isolated',
}

/** The status and details of an execution. */
export function ExecutionOverview({
  item,
  execution,
}: {
  item: RunCheckpoint
  execution: Execution | undefined
}) {
  const now = useNow()
  const error = execution?.error_details.last_error ?? null
  const waiting = waitingText(item, now)
  return (
    <div className={styles.overview}>
      {item.description !== '' && <p className={styles.description}>{item.description}</p>}
      {item.status === 'failed' && (
        <Notice tone="red" title={`${item.name} failed.`}>
          {error?.error_message ?? item.error_message}
        </Notice>
      )}
      {execution?.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      {item.progress !== null && <ProgressBar {...item.progress} label={`Progress of ${item.name}`} />}
      {waiting !== null && (
        <p>
          {item.name} {waiting}.
        </p>
      )}
      {execution !== undefined && <FailedAttempts execution={execution} failed={item.status === 'failed'} />}
      {execution !== undefined && <Validations validations={execution.validations} />}
      <dl className={styles.details}>
        <Detail name="Status">
          <StateTag state={executionState(item, now)} />
        </Detail>
        <Detail name="Type">{modeLabel(item.mode)}</Detail>
        <Detail name="Approvals">{approvalLabel(item)}</Detail>
        {item.needs.length > 0 && <Detail name="Needs">{item.needs.join(', ')}</Detail>}
        {item.started_at !== null && <Detail name="Started">{formatTime(item.started_at, now)}</Detail>}
        {item.completed_at !== null && <Detail name="Completed">{formatTime(item.completed_at, now)}</Detail>}
        {item.active_seconds !== null && item.active_seconds > 0 && (
          <Detail name="Active time">{formatDuration(item.active_seconds)}</Detail>
        )}
        {execution !== undefined && execution.max_attempts > 1 && (
          <Detail name="Attempt">
            {execution.attempt_number} of {execution.max_attempts}
          </Detail>
        )}
        {execution !== undefined && execution.revision_iteration > 0 && (
          <Detail name="Revision">
            {execution.revision_iteration} of {execution.max_revision_iterations}
          </Detail>
        )}
        {execution !== undefined && execution.usage.calls > 0 && (
          <Detail name="Models">
            {compactNumber(totalTokens(execution.usage))} tokens in {pluralize(execution.usage.calls, 'call')}
            , {costLabel(execution.usage)}
          </Detail>
        )}
        {execution?.sandbox != null && <Detail name="Sandbox">{SANDBOXES[execution.sandbox]}</Detail>}
        {execution?.permanent_output_path != null && (
          <Detail name="Folder">
            <code>{execution.permanent_output_path}</code>
          </Detail>
        )}
      </dl>
      <Interactions execution={execution} />
    </div>
  )
}

function Detail({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function approvalLabel(item: RunCheckpoint): string {
  if (item.requires_approval_to_start && item.requires_approval_to_complete) return 'to start and to complete'
  if (item.requires_approval_to_start) return 'to start'
  return item.requires_approval_to_complete ? 'to complete' : 'none'
}

/** What people did, newest last. */
function Interactions({ execution }: { execution: Execution | undefined }) {
  const now = useNow()
  const interactions = execution?.human_interactions ?? []
  if (interactions.length === 0) return null
  return (
    <section aria-label="Activity" className={styles.interactions}>
      <h3>Activity</h3>
      <ol>
        {interactions.map((interaction) => (
          <li key={interaction.interaction_id}>
            <p>
              <strong>{interaction.actor}</strong> {interactionText(interaction)}
              <span className={styles.time}>{formatTime(interaction.timestamp, now)}</span>
            </p>
            {interaction.user_input !== '' && (
              <blockquote className={styles.quote}>{interaction.user_input}</blockquote>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
