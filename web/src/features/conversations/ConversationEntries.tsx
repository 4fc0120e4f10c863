import { Button } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { type Entry, speakersOf } from '~/lib/conversations'
import styles from './Conversation.module.css'
import { Coming, Given, Part, Said, type Speaker } from './EntryRows'

type Props = {
  entries: readonly Entry[]
  older: boolean
  loadingOlder: boolean
  onOlder: () => void
  works: boolean
  label: string
}

const HEIGHTS: Record<Entry['kind'], number> = { part: 36, given: 40, said: 110, coming: 110 }
const AT_END = 32
/** So close to the first entry older ones are read. */
const NEAR = 8
const NOBODY: Speaker = { colour: 3, letters: '?' }

/** Only what can be seen is drawn; it stays at the end until somebody scrolls up to read. */
export function Entries({ entries, older, loadingOlder, onOlder, works, label }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const end = useRef(true)
  const top = useRef(0)
  const [following, setFollowing] = useState(true)
  // What was unfolded stays so when it is scrolled out of sight and back.
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  // Whoever has a colour keeps it when earlier ones are read.
  const known = useRef<ReturnType<typeof speakersOf>>(new Map())
  const speakers = useMemo(() => {
    known.current = speakersOf(entries, known.current)
    return known.current
  }, [entries])
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => HEIGHTS[entries[index]?.kind ?? 'said'],
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
    if (end.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [total, entries])
  // Whoever reads above unfolds a row there: that is not the end.
  const follow = () => {
    const at = box.current
    if (at === null) return
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight <= AT_END
    // Rows that turn out higher than they were thought put the end away as well: only who goes up leaves it.
    if (isAtEnd || at.scrollTop < top.current) end.current = isAtEnd
    top.current = at.scrollTop
    setFollowing(end.current)
  }
  const fold = (key: string, open: boolean) => {
    end.current = false
    setUnfolded((before) => {
      const after = new Set(before)
      if (open) after.add(key)
      else after.delete(key)
      return after
    })
  }
  useEffect(() => {
    const seen = box.current
    if (seen === null) return
    const sized = new ResizeObserver(() => {
      if (end.current) seen.scrollTop = seen.scrollHeight
    })
    sized.observe(seen)
    return () => sized.disconnect()
  }, [])
  const jump = () => {
    end.current = true
    setFollowing(true)
    virtual.scrollToEnd()
    box.current?.focus()
  }
  const items = virtual.getVirtualItems()
  const start = items[0]?.index ?? 0
  const isShort = total <= (box.current?.clientHeight ?? 0)
  useEffect(() => {
    if (start < NEAR && (!following || isShort) && older && !loadingOlder) onOlder()
  }, [start, following, isShort, older, loadingOlder, onOlder])
  const speaker = (name: string) => speakers.get(name) ?? NOBODY
  return (
    <div className={styles.body}>
      {older && (
        <p className={styles.reading}>
          {loadingOlder ? (
            'Reading what was said before…'
          ) : (
            <Button variant="subtle" onClick={onOlder}>
              Show what was said before
            </Button>
          )}
        </p>
      )}
      <div
        ref={box}
        className={styles.talk}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        aria-busy={works}
        onScroll={follow}
      >
        <div className={styles.all} style={{ height: total }}>
          <div className={styles.window} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index, key }) => {
              const entry = entries[index]
              if (entry === undefined) return null
              const folds = {
                isOpen: (part: string) => unfolded.has(`${entry.key} ${part}`),
                fold,
                of: entry.key,
              }
              return (
                <div key={key} data-index={index} ref={virtual.measureElement}>
                  {entry.kind === 'part' ? (
                    <Part words={entry.words} />
                  ) : entry.kind === 'given' ? (
                    <Given messages={entry.messages} to={entry.to} folds={folds} />
                  ) : entry.kind === 'said' ? (
                    <Said {...entry} speaker={speaker(entry.message.agent_name)} folds={folds} />
                  ) : (
                    <Coming {...entry} speaker={speaker(entry.coming.agent_name)} folds={folds} />
                  )}
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {!following && (
        <Button className={styles.jump} rightSection={<IconArrowDown size={15} />} onClick={jump}>
          {works ? 'Follow the newest' : 'Jump to the end'}
        </Button>
      )}
    </div>
  )
}
