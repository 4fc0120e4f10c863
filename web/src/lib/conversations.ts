import type { Message, Piece } from '~/api/types'
import { jsonFault } from './json'

export type ToolCall = Message['tool_calls'][number]
export type ToolResult = Message['tool_results'][number]

/** A message on its way, as far as it was heard. */
export type Coming = Pick<Piece, 'scope' | 'turn' | 'number' | 'agent_name' | 'is_simulated'> & {
  texts: Record<Piece['kind'], string>
}

/** One row of a conversation as it is shown. */
export type Entry =
  | { kind: 'part'; key: string; words: string }
  | { kind: 'given'; key: string; messages: readonly Message[]; to: string | null }
  | { kind: 'said'; key: string; message: Message; results: readonly ToolResult[]; goesOn: boolean }
  | { kind: 'coming'; key: string; coming: Coming; goesOn: boolean }

type Placed = Pick<Message, 'scope' | 'turn' | 'number'>
export const placeOf = ({ scope, turn, number }: Placed) => `${scope} ${turn} ${number}`

/** Two stretches of one conversation as one: in order, each message once. */
export function joined(one: readonly Message[], other: readonly Message[]): readonly Message[] {
  const known = new Set(one.map((message) => message.message_id))
  const more = other.filter((message) => !known.has(message.message_id))
  if (more.length === 0) return one
  return [...one, ...more].sort((a, b) => a.message_id - b.message_id)
}

/** With a piece put where it belongs. Places are counted in characters, of which some take two units here. */
export function withPiece(coming: Coming | undefined, piece: Piece): Coming {
  const { scope, turn, number, agent_name, is_simulated, kind, offset, text } = piece
  const begun = coming ?? {
    scope,
    turn,
    number,
    agent_name,
    is_simulated,
    texts: { text: '', thinking: '', tool_call: '' },
  }
  const before = offset === 0 ? '' : Array.from(begun.texts[kind]).slice(0, offset).join('')
  return { ...begun, texts: { ...begun.texts, [kind]: before + text } }
}

type Turn = { messages: Message[]; coming: Coming[] }

/** What is said in one turn stands together, however many speak at a time; turns stand as they began. */
function turnsOf(messages: readonly Message[], coming: readonly Coming[]): Turn[] {
  const turns = new Map<string, Turn>()
  const of = ({ scope, turn }: Placed) => {
    const key = `${scope} ${turn}`
    const found = turns.get(key) ?? { messages: [], coming: [] }
    turns.set(key, found)
    return found
  }
  for (const message of messages) of(message).messages.push(message)
  const whole = new Set(messages.map(placeOf))
  for (const one of coming) if (!whole.has(placeOf(one))) of(one).coming.push(one)
  return [...turns.values()]
}

/** The rows: parts told apart by headings, what was asked as one, results put to their calls, what is coming last. */
export function entriesOf(messages: readonly Message[], coming: readonly Coming[]): Entry[] {
  const results = resultsOf(messages)
  const called = new Set(messages.flatMap((message) => message.tool_calls.map(callKey(message))))
  const isPut = (message: Message) =>
    message.role === 'tool' && message.tool_results.every((result) => called.has(callKey(message)(result)))
  const entries: Entry[] = []
  let part = ''
  for (const turn of turnsOf(messages, coming)) {
    const shown = turn.messages.filter((message) => !isPut(message))
    const first = shown[0] ?? turn.coming[0]
    if (first === undefined) continue
    const words = partOf(first)
    if (words !== part && words !== '') entries.push({ kind: 'part', key: `part ${placeOf(first)}`, words })
    part = words
    const to =
      shown.find((message) => message.role === 'assistant')?.agent_name ?? turn.coming[0]?.agent_name ?? null
    let goesOn = false
    for (const message of shown) {
      const key = `message ${message.message_id}`
      if (message.role === 'assistant') {
        const own = message.tool_calls.flatMap((call) => results.get(callKey(message)(call)) ?? [])
        entries.push({ kind: 'said', key, message, results: own, goesOn })
        goesOn = true
        continue
      }
      const last = entries.at(-1)
      if (last?.kind === 'given' && message !== first) last.messages = [...last.messages, message]
      else entries.push({ kind: 'given', key, messages: [message], to })
      goesOn = false
    }
    for (const one of turn.coming) {
      entries.push({ kind: 'coming', key: `coming ${placeOf(one)}`, coming: one, goesOn })
      goesOn = true
    }
  }
  return entries
}

const callKey = (message: Placed) => (one: { call_id: string }) =>
  `${message.scope} ${message.turn} ${one.call_id}`

function resultsOf(messages: readonly Message[]): Map<string, ToolResult> {
  return new Map(
    messages.flatMap((message) =>
      message.tool_results.map((result) => [callKey(message)(result), result] as const),
    ),
  )
}

/** Which part of the whole a message belongs to: Round 2, Reviews; with what it was begun anew for. */
function partOf({ scope, turn }: Placed): string {
  return [anewWords(scope), turnWords(turn)].filter(Boolean).join(' · ')
}

/** a2.r1.v0: the second try of a person's, the first revision. */
function anewWords(scope: string): string {
  const [, tries, revision, validation] = /^a(\d+)\.r(\d+)\.v(\d+)$/.exec(scope) ?? []
  return [
    Number(tries ?? 1) > 1 && `Try ${tries}`,
    Number(revision ?? 0) > 0 && `Revision ${revision}`,
    Number(validation ?? 0) > 0 && `Again after validation ${validation}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const COUNCIL: Record<string, string> = { answer: 'Answers', review: 'Reviews', chair: 'Decision' }

function turnWords(turn: string): string {
  const [kind, which] = turn.replace(/^retry\d+\//, '').split('/')
  switch (kind) {
    case 'debate':
      return which === 'judge' ? 'Ruling' : `Round ${which}`
    case 'sequential':
      return `Round ${which}`
    case 'parallel':
      return which === 'merge' ? 'Merged' : 'Each alone'
    case 'council':
      return COUNCIL[which ?? ''] ?? 'Council'
    case 'design':
      return 'Who is to work'
    case 'judge':
      return 'Validation'
    case 'summary':
      return 'Summary of what would be too long'
    case 'questions':
      return `Questions, round ${which}`
    default:
      return ''
  }
}

const PURPOSES: Record<string, string> = {
  design: 'sets up who works',
  judge: 'judges the result',
  summary: 'summarises',
  questions: 'asks for parameters',
}
const DEEDS: Record<string, string> = {
  'debate/judge': 'rules',
  debate: 'argues',
  'parallel/merge': 'merges the answers',
  parallel: 'answers alone',
  'council/answer': 'answers',
  'council/review': 'reviews the others',
  'council/chair': 'decides',
  sequential: 'speaks in turn',
}

/** What a speaker does in a turn: argues, rules, judges the result. */
export function deedOf({ turn, purpose }: { turn: string; purpose?: Message['purpose'] }): string {
  const [kind = '', which] = turn.replace(/^retry\d+\//, '').split('/')
  return PURPOSES[purpose ?? kind] ?? DEEDS[`${kind}/${which}`] ?? DEEDS[kind] ?? 'works'
}

const COLOURS = 3

type Speakers = ReadonlyMap<string, { colour: number; letters: string }>

/** Which colour and letters each speaker has: by when they first speak, so that those who talk first differ. */
export function speakersOf(entries: readonly Entry[], known: Speakers = new Map()): Speakers {
  const found = new Map(known)
  const taken = new Set([...known.values()].map(({ letters }) => letters))
  for (const entry of entries) {
    const name =
      entry.kind === 'said'
        ? entry.message.agent_name
        : entry.kind === 'coming'
          ? entry.coming.agent_name
          : null
    if (name === null || found.has(name)) continue
    const letters = lettersOf(name).find((each) => !taken.has(each)) ?? '?'
    taken.add(letters)
    found.set(name, { colour: (found.size % COLOURS) + 1, letters })
  }
  return found
}

/** One letter, or two where another has it already: A, AN, AR. */
function lettersOf(name: string): string[] {
  const signs = Array.from(name.replace(/[^\p{L}\p{N}]+/gu, '').toUpperCase())
  return [signs[0] ?? '?', ...signs.slice(1).map((sign) => `${signs[0]}${sign}`)]
}

/** Arguments that say more about a call than its first one. */
const SUBJECTS = new Set(['path', 'query', 'url', 'question', 'operation_type', 'checkpoint'])

/** The file, question or words that a call is about, in short; the rest unfolds. */
export function callWords(call: ToolCall): string {
  const given = call.arguments
  if (typeof given === 'string') return given
  if (typeof given !== 'object' || given === null) return ''
  const told = Object.entries(given).filter(([, value]) => typeof value === 'string' && value !== '')
  const [, value] = told.find(([name]) => SUBJECTS.has(name)) ?? told[0] ?? []
  return String(value ?? '').split('\n')[0] ?? ''
}

/** The tool by which a model hands over an object; what it is called with is its answer. */
export const HANDS_OVER = 'final_result'

/** A call on its way, as `name{"argument": …`: the name, and the newest of the rest. */
export function callingOf(text: string): { name: string; rest: string } {
  const at = text.indexOf('{')
  return at < 0 ? { name: text, rest: '' } : { name: text.slice(0, at), rest: text.slice(at).slice(-200) }
}

/** An answer that is a JSON document is shown as one. */
export function isDocument(text: string): boolean {
  return /^\s*[[{]/.test(text) && jsonFault(text) === null
}
