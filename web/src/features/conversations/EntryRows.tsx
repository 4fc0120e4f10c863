import { IconBulb } from '@tabler/icons-react'
import { Fragment, lazy, memo, type ReactNode, Suspense } from 'react'
import type { Message } from '~/api/types'
import {
  activityOf,
  FINAL_RESULT_TOOL,
  isJsonDocument,
  type StreamingMessage as OnItsWay,
  parseStreamingCall,
  type ToolResult,
} from '~/lib/conversations'
import { compactNumber, costLabel, totalTokens, usageSummary } from '~/lib/costs'
import { formatDateTime, formatSecond } from '~/lib/durations'
import { formatJson } from '~/lib/json'
import { Code } from '~/ui/Code'
import { SimulatedTag } from '~/ui/SimulatedTag'
import { type CollapseState, Collapsible } from './Collapsible'
import styles from './Conversation.module.css'
import { ToolCall } from './ToolCall'

const Markdown = lazy(() => import('~/ui/Markdown'))
/** Longer texts are shown without Markdown formatting. */
const MAX_MARKDOWN_LENGTH = 40_000

export type Speaker = { colour: number; letters: string }

export function EntryHeading({ text }: { text: string }) {
  return <h3 className={styles.heading}>{text}</h3>
}

const ROLE_LABELS: Record<string, string> = {
  system: 'System prompt',
  user: 'Task',
  tool: 'Tool result',
}

/** The prompt of a model, collapsed because it is long. */
export function PromptRow({
  messages,
  agentName,
  collapse,
}: {
  messages: readonly Message[]
  agentName: string | null
  collapse: CollapseState
}) {
  const [first] = messages
  if (first === undefined) return null
  const names = [...new Set(messages.map(({ role }) => (ROLE_LABELS[role] ?? role).toLowerCase()))].join(', ')
  const size = messages.reduce((sum, message) => sum + message.content.length, 0)
  return (
    <div className={styles.prompt} data-past-attempt={!first.is_current || undefined}>
      <Collapsible
        name="text"
        collapse={collapse}
        title={agentName === null ? 'Prompt' : `Prompt for ${agentName}`}
        preview={`${names}, ${compactNumber(size)} characters`}
        trailing={formatSecond(first.timestamp)}
      >
        {messages.map(({ message_id, role, content }) => (
          <Fragment key={message_id}>
            <h4>{ROLE_LABELS[role] ?? role}</h4>
            <Code text={content} label={`${ROLE_LABELS[role] ?? role} (full text)`} wrap />
          </Fragment>
        ))}
      </Collapsible>
    </div>
  )
}

type AnswerRowProps = {
  message: Message
  results: readonly ToolResult[]
  continues: boolean
  speaker: Speaker
  collapse: CollapseState
}

/** An answer with its tool calls and their results. */
export function AnswerRow({ message, results, continues, speaker, collapse }: AnswerRowProps) {
  return (
    <Row
      name={message.agent_name}
      activity={activityOf(message)}
      speaker={speaker}
      isSimulated={message.is_simulated}
      continues={continues}
      isPastAttempt={!message.is_current}
      meta={<AnswerMeta message={message} />}
    >
      {message.thinking !== '' && <Thinking text={message.thinking} collapse={collapse} />}
      {message.content !== '' && (
        <AnswerText text={message.content} label={`Answer from ${message.agent_name}`} />
      )}
      {message.tool_calls.map((call) => (
        <ToolCall
          key={call.call_id}
          call={call}
          result={results.find((result) => result.call_id === call.call_id)}
          collapse={collapse}
        />
      ))}
      {message.content === '' && message.tool_calls.length === 0 && (
        <p className={styles.muted}>Empty message.</p>
      )}
    </Row>
  )
}

type StreamingRowProps = {
  streaming: OnItsWay
  continues: boolean
  speaker: Speaker
  collapse: CollapseState
}

/** An answer that is being streamed. */
export function StreamingRow({ streaming, continues, speaker, collapse }: StreamingRowProps) {
  const { text, thinking, tool_call } = streaming.texts
  return (
    <Row
      name={streaming.agent_name}
      activity={activityOf(streaming)}
      speaker={speaker}
      isSimulated={streaming.is_simulated}
      continues={continues}
      meta="now"
    >
      {thinking !== '' && (
        <Thinking text={thinking} collapse={collapse} isFinished={text !== '' || tool_call !== ''} />
      )}
      {text !== '' && (
        <div className={styles.streaming}>
          <AnswerText text={text} label={`Answer from ${streaming.agent_name}`} />
        </div>
      )}
      {tool_call !== '' && <StreamingToolCall {...parseStreamingCall(tool_call)} />}
    </Row>
  )
}

/** The thinking of a model. While it is streamed, the latest line is shown. */
function Thinking({
  text,
  collapse,
  isFinished = true,
}: {
  text: string
  collapse: CollapseState
  isFinished?: boolean
}) {
  const lines = text.trim().split('\n')
  return (
    <Collapsible
      name="thinking"
      collapse={collapse}
      icon={<IconBulb size={14} stroke={1.6} aria-hidden="true" />}
      title={isFinished ? 'Thinking' : 'Thinking…'}
      preview={lines.at(isFinished ? 0 : -1) ?? ''}
    >
      <p className={styles.thinking}>{text}</p>
    </Collapsible>
  )
}

function StreamingToolCall({ name, args: rest }: ReturnType<typeof parseStreamingCall>) {
  return (
    <p className={styles.streamingCall}>
      {name === FINAL_RESULT_TOOL ? 'Submitting the result' : `Calling ${name}`} <code>{rest}</code>
    </p>
  )
}

type RowProps = {
  name: string
  activity: string
  speaker: Speaker
  isSimulated: boolean
  continues: boolean
  isPastAttempt?: boolean
  meta: ReactNode
  children: ReactNode
}

function Row({ name, activity, speaker, isSimulated, continues, isPastAttempt, meta, children }: RowProps) {
  return (
    <article
      className={styles.row}
      data-speaker={speaker.colour}
      data-continues={continues || undefined}
      data-past-attempt={isPastAttempt || undefined}
      aria-label={`${name} ${activity}`}
    >
      <span className={styles.initials} aria-hidden="true">
        {!continues && speaker.letters}
      </span>
      <div className={styles.content}>
        <header className={styles.head}>
          {!continues && (
            <>
              <strong className={styles.name}>{name}</strong>
              <span className={styles.activity}>{activity}</span>
              {isSimulated && <SimulatedTag />}
            </>
          )}
          <span className={styles.meta}>{meta}</span>
        </header>
        {children}
      </div>
    </article>
  )
}

/** The usage and time of an answer. */
function AnswerMeta({ message: { usage, model, timestamp } }: { message: Message }) {
  const parts =
    usage === null
      ? []
      : [
          `${compactNumber(totalTokens(usage))} tokens`,
          usage.simulated_calls > 0 ? 'free' : costLabel(usage),
          usage.seconds > 0 &&
            `${usage.seconds < 10 ? usage.seconds.toFixed(1) : Math.round(usage.seconds)} s`,
        ].filter(Boolean)
  return (
    <>
      {usage !== null && (
        <span title={[model, usageSummary(usage)].filter(Boolean).join(': ')}>{parts.join(' · ')} · </span>
      )}
      <time dateTime={timestamp} title={formatDateTime(timestamp)}>
        {formatSecond(timestamp)}
      </time>
    </>
  )
}

const AnswerText = memo(function AnswerText({ text, label }: { text: string; label: string }) {
  if (isJsonDocument(text)) return <Code text={formatJson(text)} label={label} wrap />
  const plain = <p className={styles.plain}>{text}</p>
  if (text.length > MAX_MARKDOWN_LENGTH) return plain
  return (
    <Suspense fallback={plain}>
      <Markdown>{text}</Markdown>
    </Suspense>
  )
})
