import type { Message, MessageDelta } from '~/api/types'
import { jsonError } from './json'

export type ToolCall = Message['tool_calls'][number]
export type ToolResult = Message['tool_results'][number]

/** A message that is being streamed. */
export type StreamingMessage = Pick<
  MessageDelta,
  'attempt_key' | 'turn' | 'number' | 'agent_name' | 'is_simulated'
> & {
  texts: Record<MessageDelta['kind'], string>
}

/** One row of a conversation. */
export type Entry =
  | { kind: 'heading'; key: string; text: string }
  | { kind: 'prompt'; key: string; messages: readonly Message[]; to: string | null }
  | { kind: 'answer'; key: string; message: Message; results: readonly ToolResult[]; continues: boolean }
  | { kind: 'streaming'; key: string; streaming: StreamingMessage; continues: boolean }

type MessagePosition = Pick<Message, 'attempt_key' | 'turn' | 'number'>
export const messageKey = ({ attempt_key, turn, number }: MessagePosition) =>
  `${attempt_key} ${turn} ${number}`

/** Merges two lists of messages in order, without duplicates. */
export function mergeMessages(one: readonly Message[], other: readonly Message[]): readonly Message[] {
  const existing = new Set(one.map((message) => message.message_id))
  const more = other.filter((message) => !existing.has(message.message_id))
  if (more.length === 0) return one
  return [...one, ...more].sort((a, b) => a.message_id - b.message_id)
}

/** Adds a delta at its offset. Offsets count characters, not UTF-16 units. */
export function withDelta(streaming: StreamingMessage | undefined, delta: MessageDelta): StreamingMessage {
  const { attempt_key, turn, number, agent_name, is_simulated, kind, offset, text } = delta
  const started = streaming ?? {
    attempt_key,
    turn,
    number,
    agent_name,
    is_simulated,
    texts: { text: '', thinking: '', tool_call: '' },
  }
  const before = offset === 0 ? '' : Array.from(started.texts[kind]).slice(0, offset).join('')
  return { ...started, texts: { ...started.texts, [kind]: before + text } }
}

type Turn = { messages: Message[]; streaming: StreamingMessage[] }

/** Groups messages by turn, in the order in which the turns started. */
function groupByTurn(messages: readonly Message[], streaming: readonly StreamingMessage[]): Turn[] {
  const turns = new Map<string, Turn>()
  const turnOf = ({ attempt_key, turn }: MessagePosition) => {
    const key = `${attempt_key} ${turn}`
    const speakers = turns.get(key) ?? { messages: [], streaming: [] }
    turns.set(key, speakers)
    return speakers
  }
  for (const message of messages) turnOf(message).messages.push(message)
  const finished = new Set(messages.map(messageKey))
  for (const one of streaming) if (!finished.has(messageKey(one))) turnOf(one).streaming.push(one)
  return [...turns.values()]
}

/** The rows of a conversation: headings between sections, prompts grouped, results with their calls, streaming messages last. */
export function conversationEntries(
  messages: readonly Message[],
  streaming: readonly StreamingMessage[],
): Entry[] {
  const results = resultsOf(messages)
  const callKeys = new Set(messages.flatMap((message) => message.tool_calls.map(callKey(message))))
  const isShownWithCall = (message: Message) =>
    message.role === 'tool' && message.tool_results.every((result) => callKeys.has(callKey(message)(result)))
  const entries: Entry[] = []
  let heading = ''
  for (const turn of groupByTurn(messages, streaming)) {
    const shown = turn.messages.filter((message) => !isShownWithCall(message))
    const first = shown[0] ?? turn.streaming[0]
    if (first === undefined) continue
    const text = headingOf(first)
    if (text !== heading && text !== '')
      entries.push({ kind: 'heading', key: `heading ${messageKey(first)}`, text })
    heading = text
    const to =
      shown.find((message) => message.role === 'assistant')?.agent_name ??
      turn.streaming[0]?.agent_name ??
      null
    let continues = false
    for (const message of shown) {
      const key = `message ${message.message_id}`
      if (message.role === 'assistant') {
        const own = message.tool_calls.flatMap((call) => results.get(callKey(message)(call)) ?? [])
        entries.push({ kind: 'answer', key, message, results: own, continues })
        continues = true
        continue
      }
      const last = entries.at(-1)
      if (last?.kind === 'prompt' && message !== first) last.messages = [...last.messages, message]
      else entries.push({ kind: 'prompt', key, messages: [message], to })
      continues = false
    }
    for (const one of turn.streaming) {
      entries.push({ kind: 'streaming', key: `streaming ${messageKey(one)}`, streaming: one, continues })
      continues = true
    }
  }
  return entries
}

const callKey = (message: MessagePosition) => (one: { call_id: string }) =>
  `${message.attempt_key} ${message.turn} ${one.call_id}`

function resultsOf(messages: readonly Message[]): Map<string, ToolResult> {
  return new Map(
    messages.flatMap((message) =>
      message.tool_results.map((result) => [callKey(message)(result), result] as const),
    ),
  )
}

/** The section of a message, such as “Round 2”, with the reason for a retry. */
function headingOf({ attempt_key, turn }: MessagePosition): string {
  return [retryLabel(attempt_key), turnLabel(turn)].filter(Boolean).join(' · ')
}

/** a2.r1.v0: the second attempt, the first revision. */
function retryLabel(attemptKey: string): string {
  const [, attempt, revision, validation] = /^a(\d+)\.r(\d+)\.v(\d+)$/.exec(attemptKey) ?? []
  return [
    Number(attempt ?? 1) > 1 && `Attempt ${attempt}`,
    Number(revision ?? 0) > 0 && `Revision ${revision}`,
    Number(validation ?? 0) > 0 && `Validation retry ${validation}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const COUNCIL: Record<string, string> = { answer: 'Answers', review: 'Reviews', chair: 'Decision' }

function turnLabel(turn: string): string {
  const [kind, which] = turn.replace(/^retry\d+\//, '').split('/')
  switch (kind) {
    case 'debate':
      return which === 'judge' ? 'Ruling' : `Round ${which}`
    case 'sequential':
      return `Round ${which}`
    case 'parallel':
      return which === 'merge' ? 'Merged' : 'Independent answers'
    case 'council':
      return COUNCIL[which ?? ''] ?? 'Council'
    case 'design':
      return 'Team design'
    case 'judge':
      return 'Validation'
    case 'summary':
      return 'Input summary'
    case 'questions':
      return `Questions, round ${which}`
    default:
      return ''
  }
}

const PURPOSE_ACTIVITIES: Record<string, string> = {
  design: 'designs the team',
  judge: 'validates the result',
  summary: 'summarizes the input',
  questions: 'asks for parameters',
}
const TURN_ACTIVITIES: Record<string, string> = {
  'debate/judge': 'gives a ruling',
  debate: 'argues',
  'parallel/merge': 'merges the answers',
  parallel: 'answers independently',
  'council/answer': 'answers',
  'council/review': 'reviews other answers',
  'council/chair': 'decides',
  sequential: 'takes a turn',
}

/** What an agent does in a turn, such as “argues”. */
export function activityOf({ turn, purpose }: { turn: string; purpose?: Message['purpose'] }): string {
  const [kind = '', which] = turn.replace(/^retry\d+\//, '').split('/')
  return (
    PURPOSE_ACTIVITIES[purpose ?? kind] ??
    TURN_ACTIVITIES[`${kind}/${which}`] ??
    TURN_ACTIVITIES[kind] ??
    'works on the task'
  )
}

const COLOURS = 3

type Speakers = ReadonlyMap<string, { colour: number; letters: string }>

/** Assigns a colour and initials to each speaker, in the order of their first message. */
export function assignSpeakers(entries: readonly Entry[], existing: Speakers = new Map()): Speakers {
  const speakers = new Map(existing)
  const used = new Set([...existing.values()].map(({ letters }) => letters))
  for (const entry of entries) {
    const name =
      entry.kind === 'answer'
        ? entry.message.agent_name
        : entry.kind === 'streaming'
          ? entry.streaming.agent_name
          : null
    if (name === null || speakers.has(name)) continue
    const letters = initialsOf(name).find((each) => !used.has(each)) ?? '?'
    used.add(letters)
    speakers.set(name, { colour: (speakers.size % COLOURS) + 1, letters })
  }
  return speakers
}

/** One letter, or two if it is taken: A, AN, AR. */
function initialsOf(name: string): string[] {
  const characters = Array.from(name.replace(/[^\p{L}\p{N}]+/gu, '').toUpperCase())
  return [characters[0] ?? '?', ...characters.slice(1).map((character) => `${characters[0]}${character}`)]
}

/** Arguments that describe a call best. */
const SUBJECTS = new Set(['path', 'query', 'url', 'question', 'operation_type', 'checkpoint'])

/** A short description of a tool call from its arguments. */
export function callSubject(call: ToolCall): string {
  const args = call.arguments
  if (typeof args === 'string') return args
  if (typeof args !== 'object' || args === null) return ''
  const texts = Object.entries(args).filter(([, value]) => typeof value === 'string' && value !== '')
  const [, value] = texts.find(([name]) => SUBJECTS.has(name)) ?? texts[0] ?? []
  return String(value ?? '').split('\n')[0] ?? ''
}

/** The tool that a model calls to return a structured answer. */
export const FINAL_RESULT_TOOL = 'final_result'

/** Splits a streaming call `name{"argument": …` into its name and the latest part of its arguments. */
export function parseStreamingCall(text: string): { name: string; args: string } {
  const brace = text.indexOf('{')
  return brace < 0
    ? { name: text, args: '' }
    : { name: text.slice(0, brace), args: text.slice(brace).slice(-200) }
}

/** Whether an answer is a JSON document. */
export function isJsonDocument(text: string): boolean {
  return /^\s*[[{]/.test(text) && jsonError(text) === null
}
