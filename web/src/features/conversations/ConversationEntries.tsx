import { Button } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { assignSpeakers, type Entry } from '~/lib/conversations'
import styles from './Conversation.module.css'
import { AnswerRow, EntryHeading, PromptRow, type Speaker, StreamingRow } from './EntryRows'

type Props = {
  entries: readonly Entry[]
  hasOlder: boolean
  loadingOlder: boolean
  onOlder: () => void
  isRunning: boolean
  label: string
}

const HEIGHTS: Record<Entry['kind'], number> = { heading: 36, prompt: 40, answer: 110, streaming: 110 }
const END_THRESHOLD = 32
/** Older entries are loaded this close to the first one. */
const LOAD_OLDER_WITHIN = 8
const UNKNOWN_SPEAKER: Speaker = { colour: 3, letters: '?' }

/** Renders only the visible entries and follows the end until the user scrolls up. */
export function ConversationEntries({ entries, hasOlder, loadingOlder, onOlder, isRunning, label }: Props) {
  const scrollRef = useRef<HTMLDivElement>(null)
  const isAtEndRef = useRef(true)
  const lastScrollTop = useRef(0)
  const [following, setFollowing] = useState(true)
  // Keeps entries expanded when they are scrolled out of view and back.
  const [expanded, setExpandedKeys] = useState<ReadonlySet<string>>(new Set())
  // Speakers keep their colour when earlier messages are loaded.
  const knownSpeakers = useRef<ReturnType<typeof assignSpeakers>>(new Map())
  const speakers = useMemo(() => {
    knownSpeakers.current = assignSpeakers(entries, knownSpeakers.current)
    return knownSpeakers.current
  }, [entries])
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: entries.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: (index) => HEIGHTS[entries[index]?.kind ?? 'answer'],
    getItemKey: (index) => entries[index]?.key ?? index,
    // Keeps the position when entries are added above.
    anchorTo: 'end',
    overscan: 6,
    paddingStart: 8,
    paddingEnd: 20,
  })
  const total = virtual.getTotalSize()
  // A growing row moves the end just like a new row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the height.
  useLayoutEffect(() => {
    if (isAtEndRef.current && scrollRef.current !== null)
      scrollRef.current.scrollTop = scrollRef.current.scrollHeight
  }, [total, entries])
  // Expanding a row means that the user reads there, not at the end.
  const onScroll = () => {
    const element = scrollRef.current
    if (element === null) return
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= END_THRESHOLD
    // Rows that are higher than estimated also move the end. Only scrolling up stops following it.
    if (isAtEnd || element.scrollTop < lastScrollTop.current) isAtEndRef.current = isAtEnd
    lastScrollTop.current = element.scrollTop
    setFollowing(isAtEndRef.current)
  }
  const setExpanded = (key: string, open: boolean) => {
    isAtEndRef.current = false
    setExpandedKeys((before) => {
      const after = new Set(before)
      if (open) after.add(key)
      else after.delete(key)
      return after
    })
  }
  useEffect(() => {
    const element = scrollRef.current
    if (element === null) return
    const sized = new ResizeObserver(() => {
      if (isAtEndRef.current) element.scrollTop = element.scrollHeight
    })
    sized.observe(element)
    return () => sized.disconnect()
  }, [])
  const jump = () => {
    isAtEndRef.current = true
    setFollowing(true)
    virtual.scrollToEnd()
    scrollRef.current?.focus()
  }
  const items = virtual.getVirtualItems()
  const start = items[0]?.index ?? 0
  const isShort = total <= (scrollRef.current?.clientHeight ?? 0)
  useEffect(() => {
    if (start < LOAD_OLDER_WITHIN && (!following || isShort) && hasOlder && !loadingOlder) onOlder()
  }, [start, following, isShort, hasOlder, loadingOlder, onOlder])
  const speaker = (name: string) => speakers.get(name) ?? UNKNOWN_SPEAKER
  return (
    <div className={styles.body}>
      {hasOlder && (
        <p className={styles.loadingOlder}>
          {loadingOlder ? (
            'Loading earlier messages…'
          ) : (
            <Button variant="subtle" onClick={onOlder}>
              Load earlier messages
            </Button>
          )}
        </p>
      )}
      <div
        ref={scrollRef}
        className={styles.messages}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        aria-busy={isRunning}
        onScroll={onScroll}
      >
        <div className={styles.all} style={{ height: total }}>
          <div className={styles.window} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index, key }) => {
              const entry = entries[index]
              if (entry === undefined) return null
              const collapse = {
                isOpen: (part: string) => expanded.has(`${entry.key} ${part}`),
                setExpanded,
                entryKey: entry.key,
              }
              return (
                <div key={key} data-index={index} ref={virtual.measureElement}>
                  {entry.kind === 'heading' ? (
                    <EntryHeading text={entry.text} />
                  ) : entry.kind === 'prompt' ? (
                    <PromptRow messages={entry.messages} agentName={entry.to} collapse={collapse} />
                  ) : entry.kind === 'answer' ? (
                    <AnswerRow {...entry} speaker={speaker(entry.message.agent_name)} collapse={collapse} />
                  ) : (
                    <StreamingRow
                      {...entry}
                      speaker={speaker(entry.streaming.agent_name)}
                      collapse={collapse}
                    />
                  )}
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {!following && (
        <Button className={styles.jump} rightSection={<IconArrowDown size={15} />} onClick={jump}>
          {isRunning ? 'Jump to latest' : 'Jump to end'}
        </Button>
      )}
    </div>
  )
}
