import { IconBulb } from '@tabler/icons-react'
import { Fragment, lazy, memo, type ReactNode, Suspense } from 'react'
import type { Message } from '~/api/types'
import {
  callingOf,
  deedOf,
  HANDS_OVER,
  isDocument,
  type Coming as OnItsWay,
  type ToolResult,
} from '~/lib/conversations'
import { costWords, short, tokensOf, usageWords } from '~/lib/costs'
import { exact, second } from '~/lib/durations'
import { prettyJson } from '~/lib/json'
import { Code } from '~/ui/Code'
import { SimulatedTag } from '~/ui/SimulatedTag'
import { Fold, type Folds } from './Collapsible'
import styles from './Conversation.module.css'
import { ToolCall } from './ToolCall'

const Markdown = lazy(() => import('~/ui/Markdown'))
/** More than this is not laid out as Markdown. */
const MOST = 40_000

export type Speaker = { colour: number; letters: string }

export function Part({ words }: { words: string }) {
  return <h3 className={styles.part}>{words}</h3>
}

const GIVEN: Record<string, string> = {
  system: 'System prompt',
  user: 'Task',
  tool: 'Result of a tool',
}

/** What a model was told: long, and seldom looked at. */
export function Given({
  messages,
  to,
  folds,
}: {
  messages: readonly Message[]
  to: string | null
  folds: Folds
}) {
  const [first] = messages
  if (first === undefined) return null
  const names = [...new Set(messages.map(({ role }) => (GIVEN[role] ?? role).toLowerCase()))].join(', ')
  const size = messages.reduce((sum, message) => sum + message.content.length, 0)
  return (
    <div className={styles.given} data-old={!first.is_current || undefined}>
      <Fold
        name="text"
        folds={folds}
        title={to === null ? 'What was asked' : `What ${to} was told`}
        words={`${names}, ${short(size)} characters`}
        end={second(first.timestamp)}
      >
        {messages.map(({ message_id, role, content }) => (
          <Fragment key={message_id}>
            <h4>{GIVEN[role] ?? role}</h4>
            <Code text={content} label={`${GIVEN[role] ?? role}, whole`} wrap />
          </Fragment>
        ))}
      </Fold>
    </div>
  )
}

type SaidProps = {
  message: Message
  results: readonly ToolResult[]
  goesOn: boolean
  speaker: Speaker
  folds: Folds
}

/** One answer, with the tools that it calls and what came of them. */
export function Said({ message, results, goesOn, speaker, folds }: SaidProps) {
  return (
    <Row
      name={message.agent_name}
      deed={deedOf(message)}
      speaker={speaker}
      isSimulated={message.is_simulated}
      goesOn={goesOn}
      isOld={!message.is_current}
      end={<SmallPrint message={message} />}
    >
      {message.thinking !== '' && <Thought words={message.thinking} folds={folds} />}
      {message.content !== '' && <Words text={message.content} label={`Answer of ${message.agent_name}`} />}
      {message.tool_calls.map((call) => (
        <ToolCall
          key={call.call_id}
          call={call}
          result={results.find((result) => result.call_id === call.call_id)}
          folds={folds}
        />
      ))}
      {message.content === '' && message.tool_calls.length === 0 && (
        <p className={styles.quiet}>Said nothing.</p>
      )}
    </Row>
  )
}

type ComingProps = { coming: OnItsWay; goesOn: boolean; speaker: Speaker; folds: Folds }

/** An answer while it is written. */
export function Coming({ coming, goesOn, speaker, folds }: ComingProps) {
  const { text, thinking, tool_call } = coming.texts
  return (
    <Row
      name={coming.agent_name}
      deed={deedOf(coming)}
      speaker={speaker}
      isSimulated={coming.is_simulated}
      goesOn={goesOn}
      end="now"
    >
      {thinking !== '' && <Thought words={thinking} folds={folds} isOver={text !== '' || tool_call !== ''} />}
      {text !== '' && (
        <div className={styles.coming}>
          <Words text={text} label={`Answer of ${coming.agent_name}`} />
        </div>
      )}
      {tool_call !== '' && <Calling {...callingOf(tool_call)} />}
    </Row>
  )
}

/** What a model thinks before it answers: while it does, its newest line. */
function Thought({ words, folds, isOver = true }: { words: string; folds: Folds; isOver?: boolean }) {
  const lines = words.trim().split('\n')
  return (
    <Fold
      name="thinking"
      folds={folds}
      sign={<IconBulb size={14} stroke={1.6} aria-hidden="true" />}
      title={isOver ? 'Thought' : 'Thinking…'}
      words={lines.at(isOver ? 0 : -1) ?? ''}
    >
      <p className={styles.thinking}>{words}</p>
    </Fold>
  )
}

function Calling({ name, rest }: ReturnType<typeof callingOf>) {
  return (
    <p className={styles.calling}>
      {name === HANDS_OVER ? 'Hands over its result' : `Calls ${name}`} <code>{rest}</code>
    </p>
  )
}

type RowProps = {
  name: string
  deed: string
  speaker: Speaker
  isSimulated: boolean
  goesOn: boolean
  isOld?: boolean
  end: ReactNode
  children: ReactNode
}

function Row({ name, deed, speaker, isSimulated, goesOn, isOld, end, children }: RowProps) {
  return (
    <article
      className={styles.row}
      data-speaker={speaker.colour}
      data-goes-on={goesOn || undefined}
      data-old={isOld || undefined}
      aria-label={`${name} ${deed}`}
    >
      <span className={styles.letter} aria-hidden="true">
        {!goesOn && speaker.letters}
      </span>
      <div className={styles.said}>
        <header className={styles.head}>
          {!goesOn && (
            <>
              <strong className={styles.name}>{name}</strong>
              <span className={styles.deed}>{deed}</span>
              {isSimulated && <SimulatedTag />}
            </>
          )}
          <span className={styles.print}>{end}</span>
        </header>
        {children}
      </div>
    </article>
  )
}

/** What an answer has used, and when it was there. */
function SmallPrint({ message: { usage, model, timestamp } }: { message: Message }) {
  const parts =
    usage === null
      ? []
      : [
          `${short(tokensOf(usage))} tokens`,
          usage.simulated_calls > 0 ? 'free' : costWords(usage),
          usage.seconds > 0 &&
            `${usage.seconds < 10 ? usage.seconds.toFixed(1) : Math.round(usage.seconds)} s`,
        ].filter(Boolean)
  return (
    <>
      {usage !== null && (
        <span title={[model, usageWords(usage)].filter(Boolean).join(': ')}>{parts.join(' · ')} · </span>
      )}
      <time dateTime={timestamp} title={exact(timestamp)}>
        {second(timestamp)}
      </time>
    </>
  )
}

const Words = memo(function Words({ text, label }: { text: string; label: string }) {
  if (isDocument(text)) return <Code text={prettyJson(text)} label={label} wrap />
  const plain = <p className={styles.plain}>{text}</p>
  if (text.length > MOST) return plain
  return (
    <Suspense fallback={plain}>
      <Markdown>{text}</Markdown>
    </Suspense>
  )
})
