import { describe, expect, it, vi } from 'vitest'
import type { Message, MessagePage } from '~/api/types'
import { type MessagePageQuery, openConversation } from '~/features/conversations/conversationStore'
import {
  activityOf,
  assignSpeakers,
  callSubject,
  conversationEntries,
  isJsonDocument,
  mergeMessages,
  parseStreamingCall,
  withDelta,
} from '~/lib/conversations'
import { delta, message } from './fixtures'

const ids = (found: readonly { message_id: number }[] | undefined) => found?.map((one) => one.message_id)
const shown = (...given: Parameters<typeof conversationEntries>) =>
  conversationEntries(...given).map((entry) => {
    if (entry.kind === 'heading') return `# ${entry.text}`
    if (entry.kind === 'streaming') return `… ${entry.streaming.texts.text}`
    if (entry.kind === 'prompt') return `${entry.to ?? 'nobody'} receives ${ids(entry.messages)?.join(' ')}`
    const { message_id, agent_name } = entry.message
    return `${entry.continues ? '' : `${agent_name} `}${message_id}`
  })

describe('conversationEntries', () => {
  it('merges messages in order without duplicates', () => {
    expect(ids(mergeMessages([message(1), message(3)], [message(2), message(3)]))).toEqual([1, 2, 3])
    const all = [message(1)]
    expect(mergeMessages(all, [message(1)])).toBe(all)
  })

  it('shows a name once per turn and adds results to their calls', () => {
    const call = { call_id: 'c', name: 'file_operations', arguments: { path: 'a.csv' } }
    const result = { call_id: 'c', name: 'file_operations', content: 'rows', succeeded: true }
    const messages = [
      message(1, { role: 'user', agent_name: 'Cairn' }),
      message(2, { tool_calls: [call] }),
      message(3, { role: 'tool', tool_results: [result] }),
      message(4, { is_last: true }),
    ]
    expect(shown(messages, [])).toEqual(['Writer receives 1', 'Writer 2', '4'])
    expect(conversationEntries(messages, [])[1]).toMatchObject({ results: [result] })
  })

  it('shows a result without a known call', () => {
    const result = { call_id: 'other', name: 'web_search', content: 'x', succeeded: false }
    expect(shown([message(3, { role: 'tool', tool_results: [result] })], [])).toEqual(['nobody receives 3'])
  })

  it('is divided by rounds and retries', () => {
    const messages = [
      message(1, { turn: 'debate/1/pro', agent_name: 'Pro' }),
      message(2, { turn: 'debate/1/con', agent_name: 'Con' }),
      message(3, { turn: 'debate/2/pro', agent_name: 'Pro' }),
      message(4, { turn: 'debate/judge', agent_name: 'Judge' }),
      message(5, { turn: 'judge/1', purpose: 'judge', agent_name: 'Judge' }),
      message(6, { turn: 'debate/1/pro', agent_name: 'Pro', attempt_key: 'a1.r1.v0' }),
    ]
    expect(shown(messages, [])).toEqual([
      '# Round 1',
      'Pro 1',
      'Con 2',
      '# Round 2',
      'Pro 3',
      '# Ruling',
      'Judge 4',
      '# Validation',
      'Judge 5',
      '# Revision 1 · Round 1',
      'Pro 6',
    ])
  })

  it('groups messages of parallel agents with their prompts', () => {
    const turn = (name: string, facts: Partial<Message> = {}) => ({
      turn: `council/answer/${name.toLowerCase()}`,
      agent_name: name,
      ...facts,
    })
    const messages = [
      message(1, turn('Ann', { role: 'system' })),
      message(2, turn('Bo', { role: 'system' })),
      message(3, turn('Ann', { role: 'user' })),
      message(4, turn('Bo', { role: 'user' })),
      message(5, turn('Bo')),
      message(6, turn('Ann')),
      message(7, turn('Bo')),
    ]
    const coming = withDelta(undefined, delta('Half', 0, { ...turn('Cy'), number: 1 }))
    expect(shown(messages, [coming])).toEqual([
      '# Answers',
      'Ann receives 1 3',
      'Ann 6',
      'Bo receives 2 4',
      'Bo 5',
      '7',
      '… Half',
    ])
    expect(shown(messages.slice(0, 1), [])).toEqual(['# Answers', 'nobody receives 1'])
  })

  it('ends with streaming messages until they are complete', () => {
    const coming = withDelta(undefined, delta('Half', 0))
    expect(shown([message(1)], [coming])).toEqual(['Writer 1', '… Half'])
    expect(shown([message(1), message(2)], [coming])).toEqual(['Writer 1', '2'])
  })
})

describe('message deltas', () => {
  it('count offsets in characters, not in UTF-16 units', () => {
    const first = withDelta(undefined, delta('a🙂b', 0))
    expect(withDelta(first, delta('c', 3)).texts.text).toBe('a🙂bc')
    expect(withDelta(first, delta('c', 2)).texts.text).toBe('a🙂c')
  })

  it('restart at offset 0 and keep thinking separate', () => {
    const thought = withDelta(withDelta(undefined, delta('Hm', 0, { kind: 'thinking' })), delta('Yes', 0))
    expect(thought.texts).toEqual({ text: 'Yes', thinking: 'Hm', tool_call: '' })
    expect(withDelta(thought, delta('No', 0)).texts.text).toBe('No')
  })
})

describe('assignSpeakers', () => {
  it('distinguishes speakers with the same colour by initials', () => {
    const entries = conversationEntries(
      ['Ann', 'Anton', 'Bo', 'Abe'].map((agent_name, index) =>
        message(index, { agent_name, turn: `parallel/${agent_name}` }),
      ),
      [],
    )
    expect([...assignSpeakers(entries)]).toEqual([
      ['Ann', { colour: 1, letters: 'A' }],
      ['Anton', { colour: 2, letters: 'AN' }],
      ['Bo', { colour: 3, letters: 'B' }],
      ['Abe', { colour: 1, letters: 'AB' }],
    ])
  })

  it('keeps colours and initials when earlier messages are loaded', () => {
    const of = (...names: string[]) =>
      conversationEntries(
        names.map((agent_name, index) => message(index, { agent_name, turn: `parallel/${agent_name}` })),
        [],
      )
    const known = assignSpeakers(of('Bo'))
    expect(assignSpeakers(of('Ann', 'Bo'), known).get('Bo')).toEqual({ colour: 1, letters: 'B' })
    expect(assignSpeakers(of('Ann', 'Bo'), known).get('Ann')).toEqual({ colour: 2, letters: 'A' })
  })

  it.each([
    [{ turn: 'work', purpose: 'work' }, 'works on the task'],
    [{ turn: 'debate/2/pro', purpose: 'work' }, 'argues'],
    [{ turn: 'debate/judge', purpose: 'work' }, 'gives a ruling'],
    [{ turn: 'judge/1', purpose: 'judge' }, 'validates the result'],
    [{ turn: 'design' }, 'designs the team'],
    [{ turn: 'council/review/a', purpose: 'work' }, 'reviews other answers'],
  ] as const)('%j: %s', (given, deed) => expect(activityOf(given)).toBe(deed))
})

it('describes the subject of a call', () => {
  const call = (given: unknown) => ({ call_id: 'c', name: 'x', arguments: given })
  expect(callSubject(call({ limit: 3, query: 'super-cap\nsecond' }))).toBe('super-cap')
  expect(callSubject(call({ operation: 'read', path: 'a.csv' }))).toBe('a.csv')
  expect(callSubject(call('{broken'))).toBe('{broken')
  expect(callSubject(call(null))).toBe('')
})

it('splits a streaming call into name and arguments', () => {
  expect(parseStreamingCall('write_file{"path": "a')).toEqual({ name: 'write_file', args: '{"path": "a' })
  expect(parseStreamingCall('write_fi')).toEqual({ name: 'write_fi', args: '' })
})

it('recognizes a JSON document', () => {
  expect(isJsonDocument(' {"a": 1}')).toBe(true)
  expect(isJsonDocument('{braces} in words')).toBe(false)
})

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('openConversation', () => {
  const page = (from: number, to: number, next_cursor: string | null): MessagePage => ({
    items: Array.from({ length: to - from + 1 }, (_, index) => message(from + index)),
    next_cursor,
    is_hidden: false,
  })

  it('starts at its end, loads older messages on demand and catches up after a reconnection', async () => {
    const asked: MessagePageQuery[] = []
    let last = 60
    const talk = openConversation(async (ask) => {
      asked.push(ask)
      if (ask.after !== undefined) return page(ask.after + 1, last, null)
      const end = (ask.before ?? last + 1) - 1
      const start = Math.max(1, end - 29)
      const found = page(start, end, start > 1 ? 'more' : null)
      return { ...found, items: found.items.toReversed() }
    }, vi.fn())
    await talk.readNewer()
    expect(ids(talk.get().messages)).toEqual(numbers(31, 60))
    expect(talk.get().hasOlder).toBe(true)
    talk.addMessages([message(7), message(61)])
    expect(ids(talk.get().messages)).toEqual(numbers(31, 61))
    await talk.readOlder()
    expect(ids(talk.get().messages)).toEqual(numbers(1, 61))
    expect(talk.get().hasOlder).toBe(false)
    await talk.readOlder()
    last = 63
    talk.onReconnected()
    await vi.waitFor(() => expect(ids(talk.get().messages)).toEqual(numbers(1, 63)))
    expect(asked).toEqual([
      { order: 'newest' },
      { order: 'newest', before: 31 },
      { order: 'oldest', after: 42 },
    ])
  })

  it('restarts at its end after a long absence', async () => {
    const talk = openConversation(
      async (ask) =>
        ask.order === 'newest'
          ? page(asked === 0 ? 1 : 990, asked++ === 0 ? 5 : 1000, null)
          : page((ask.after ?? 0) + 1, (ask.after ?? 0) + 10, 'more'),
      vi.fn(),
    )
    let asked = 0
    await talk.readNewer()
    await talk.readNewer()
    expect(ids(talk.get().messages)).toEqual(numbers(990, 1000))
  })

  it('replaces deltas with the complete message', async () => {
    const talk = openConversation(async () => page(1, 1, null), vi.fn())
    await talk.readNewer()
    talk.addDeltas([delta('Ha', 0), delta('lf', 2)])
    expect(talk.get().streaming[0]?.texts.text).toBe('Half')
    talk.addMessages([message(2)])
    expect(talk.get().streaming).toEqual([])
    expect(ids(talk.get().messages)).toEqual([1, 2])
  })

  it('keeps its messages when a read fails', async () => {
    let fails = false
    const talk = openConversation(async () => {
      if (fails) throw new Error('gone')
      return page(1, 1, null)
    }, vi.fn())
    await talk.readNewer()
    fails = true
    await talk.readNewer()
    expect(ids(talk.get().messages)).toEqual([1])
    expect(talk.get().error).toEqual(new Error('gone'))
  })
})
