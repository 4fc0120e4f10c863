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
/** So close to the first entry older ones are read. */
const LOAD_OLDER_WITHIN = 8
const UNKNOWN_SPEAKER: Speaker = { colour: 3, letters: '?' }

/** Only what can be seen is drawn; it stays at the end until somebody scrolls up to read. */
export function ConversationEntries({ entries, hasOlder, loadingOlder, onOlder, isRunning, label }: Props) {
  const scrollRef = useRef<HTMLDivElement>(null)
  const isAtEndRef = useRef(true)
  const lastScrollTop = useRef(0)
  const [following, setFollowing] = useState(true)
  // What was unfolded stays so when it is scrolled out of sight and back.
  const [expanded, setExpandedKeys] = useState<ReadonlySet<string>>(new Set())
  // Whoever has a colour keeps it when earlier ones are read.
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
    // What is read stays where it is when something comes above it.
    anchorTo: 'end',
    overscan: 6,
    paddingStart: 8,
    paddingEnd: 20,
  })
  const total = virtual.getTotalSize()
  // A row that grows while it is written moves the end as well as a new one does.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is what it follows.
  useLayoutEffect(() => {
    if (isAtEndRef.current && scrollRef.current !== null)
      scrollRef.current.scrollTop = scrollRef.current.scrollHeight
  }, [total, entries])
  // Whoever reads above unfolds a row there: that is not the end.
  const onScroll = () => {
    const element = scrollRef.current
    if (element === null) return
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= END_THRESHOLD
    // Rows that turn out higher than they were thought put the end away as well: only who goes up leaves it.
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
