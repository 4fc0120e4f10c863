import type { Message, MessageDelta } from '~/api/types'
import { jsonError } from './json'

export type ToolCall = Message['tool_calls'][number]
export type ToolResult = Message['tool_results'][number]

/** A message on its way, as far as it was heard. */
export type StreamingMessage = Pick<
  MessageDelta,
  'scope' | 'turn' | 'number' | 'agent_name' | 'is_simulated'
> & {
  texts: Record<MessageDelta['kind'], string>
}

/** One row of a conversation as it is shown. */
export type Entry =
  | { kind: 'heading'; key: string; text: string }
  | { kind: 'prompt'; key: string; messages: readonly Message[]; to: string | null }
  | { kind: 'answer'; key: string; message: Message; results: readonly ToolResult[]; continues: boolean }
  | { kind: 'streaming'; key: string; streaming: StreamingMessage; continues: boolean }

type MessagePosition = Pick<Message, 'scope' | 'turn' | 'number'>
export const messageKey = ({ scope, turn, number }: MessagePosition) => `${scope} ${turn} ${number}`

/** Two stretches of one conversation as one: in order, each message once. */
export function mergeMessages(one: readonly Message[], other: readonly Message[]): readonly Message[] {
  const existing = new Set(one.map((message) => message.message_id))
  const more = other.filter((message) => !existing.has(message.message_id))
  if (more.length === 0) return one
  return [...one, ...more].sort((a, b) => a.message_id - b.message_id)
}

/** With a piece put where it belongs. Places are counted in characters, of which some take two units here. */
export function withDelta(streaming: StreamingMessage | undefined, delta: MessageDelta): StreamingMessage {
  const { scope, turn, number, agent_name, is_simulated, kind, offset, text } = delta
  const started = streaming ?? {
    scope,
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

/** What is said in one turn stands together, however many speak at a time; turns stand as they began. */
function groupByTurn(messages: readonly Message[], streaming: readonly StreamingMessage[]): Turn[] {
  const turns = new Map<string, Turn>()
  const turnOf = ({ scope, turn }: MessagePosition) => {
    const key = `${scope} ${turn}`
    const speakers = turns.get(key) ?? { messages: [], streaming: [] }
    turns.set(key, speakers)
    return speakers
  }
  for (const message of messages) turnOf(message).messages.push(message)
  const finished = new Set(messages.map(messageKey))
  for (const one of streaming) if (!finished.has(messageKey(one))) turnOf(one).streaming.push(one)
  return [...turns.values()]
}

/** The rows: parts told apart by headings, what was asked as one, results put to their calls, what is coming last. */
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
  `${message.scope} ${message.turn} ${one.call_id}`

function resultsOf(messages: readonly Message[]): Map<string, ToolResult> {
  return new Map(
    messages.flatMap((message) =>
      message.tool_results.map((result) => [callKey(message)(result), result] as const),
    ),
  )
}

/** Which part of the whole a message belongs to: Round 2, Reviews; with what it was begun anew for. */
function headingOf({ scope, turn }: MessagePosition): string {
  return [retryLabel(scope), turnLabel(turn)].filter(Boolean).join(' · ')
}

/** a2.r1.v0: the second try of a person's, the first revision. */
function retryLabel(scope: string): string {
  const [, attempt, revision, validation] = /^a(\d+)\.r(\d+)\.v(\d+)$/.exec(scope) ?? []
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

/** What a speaker does in a turn: argues, rules, judges the result. */
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

/** Which colour and letters each speaker has: by when they first speak, so that those who talk first differ. */
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

/** One letter, or two where another has it already: A, AN, AR. */
function initialsOf(name: string): string[] {
  const characters = Array.from(name.replace(/[^\p{L}\p{N}]+/gu, '').toUpperCase())
  return [characters[0] ?? '?', ...characters.slice(1).map((character) => `${characters[0]}${character}`)]
}

/** Arguments that say more about a call than its first one. */
const SUBJECTS = new Set(['path', 'query', 'url', 'question', 'operation_type', 'checkpoint'])

/** The file, question or words that a call is about, in short; the rest unfolds. */
export function callSubject(call: ToolCall): string {
  const args = call.arguments
  if (typeof args === 'string') return args
  if (typeof args !== 'object' || args === null) return ''
  const texts = Object.entries(args).filter(([, value]) => typeof value === 'string' && value !== '')
  const [, value] = texts.find(([name]) => SUBJECTS.has(name)) ?? texts[0] ?? []
  return String(value ?? '').split('\n')[0] ?? ''
}

/** The tool by which a model hands over an object; what it is called with is its answer. */
export const FINAL_RESULT_TOOL = 'final_result'

/** A call on its way, as `name{"argument": …`: the name, and the newest of the rest. */
export function parseStreamingCall(text: string): { name: string; args: string } {
  const brace = text.indexOf('{')
  return brace < 0
    ? { name: text, args: '' }
    : { name: text.slice(0, brace), args: text.slice(brace).slice(-200) }
}

/** An answer that is a JSON document is shown as one. */
export function isJsonDocument(text: string): boolean {
  return /^\s*[[{]/.test(text) && jsonError(text) === null
}
