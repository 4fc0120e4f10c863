import { Button } from '@mantine/core'
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks'
import { IconArrowDown } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { LogLine } from '~/api/types'
import { formatDateTime } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { detailText, estimateRows, levelLabel, logTime, splitMatches, streamOf } from '~/lib/logs'
import styles from './Log.module.css'

type Props = {
  lines: readonly LogLine[]
  hasOlder: boolean
  loadingOlder: boolean
  onOlder: () => void
  search: string
  wrap: boolean
  label: string
}

const ROW_HEIGHT = 18
const CHARACTER_WIDTH = 7.25
/** The width of time and level beside a message. On a phone they precede it. */
const META_WIDTH = 190
const PADDING = 26
const META_TEXT = ' '.repeat(15)
/** Older lines are loaded this close to the first one. */
const LOAD_OLDER_WITHIN = 40
const END_THRESHOLD = 24

/** Renders only the visible entries and follows the end until the user scrolls up. */
export function LogLines({ lines, hasOlder, loadingOlder, onOlder, search, wrap, label }: Props) {
  const scrollRef = useRef<HTMLDivElement>(null)
  const { ref: sized, width } = useElementSize()
  const [following, setFollowing] = useState(true)
  const [lastSeen, setLastSeen] = useState(0)
  const narrow = useMediaQuery('(max-width: 760px)', false)
  const room = width - (narrow ? PADDING : META_WIDTH)
  const columns = wrap ? Math.max(20, Math.floor(room / CHARACTER_WIDTH)) : Number.POSITIVE_INFINITY
  const before = narrow ? META_TEXT : ''
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: lines.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: (index) => estimateRows(`${before}${lines[index]?.message}`, columns) * ROW_HEIGHT,
    getItemKey: (index) => lines[index]?.log_id ?? index,
    overscan: 15,
    paddingStart: 8,
    paddingEnd: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: END_THRESHOLD,
  })

  // Starts at the end. Measurements at another width or wrapping are outdated.
  const isAtEndRef = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the width of a line changes what it measures.
  useLayoutEffect(() => {
    virtual.measure()
    // A row that doesn't change would not report its size again.
    for (const row of virtual.elementsCache.values()) virtual.measureElement(row)
    if (isAtEndRef.current) virtual.scrollToEnd()
  }, [wrap, width, virtual])

  const items = virtual.getVirtualItems()
  const start = items[0]?.index ?? 0
  useEffect(() => {
    if (start < LOAD_OLDER_WITHIN && hasOlder && !loadingOlder && !following) onOlder()
  }, [start, hasOlder, loadingOlder, following, onOlder])

  const last = lines.at(-1)?.log_id ?? 0
  const newer = following ? 0 : lines.length - 1 - lines.findLastIndex((line) => line.log_id <= lastSeen)
  const onScroll = () => {
    const element = scrollRef.current
    if (element === null) return
    isAtEndRef.current = element.scrollHeight - element.scrollTop - element.clientHeight <= END_THRESHOLD
    if (isAtEndRef.current === following) return
    setFollowing(isAtEndRef.current)
    if (!isAtEndRef.current) setLastSeen(last)
  }
  const jump = () => {
    virtual.scrollToEnd()
    isAtEndRef.current = true
    setFollowing(true)
    scrollRef.current?.focus()
  }
  return (
    <div className={styles.body}>
      <div
        ref={useMergedRef(scrollRef, sized)}
        className={styles.log}
        data-wrap={wrap || undefined}
        data-following={following || undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        onScroll={onScroll}
      >
        <div className={styles.all} style={{ height: virtual.getTotalSize() }}>
          <div className={styles.window} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index, key }) => {
              const line = lines[index]
              return (
                line !== undefined && (
                  <div key={key} data-index={index} ref={virtual.measureElement}>
                    <Line line={line} search={search} />
                  </div>
                )
              )
            })}
          </div>
        </div>
      </div>
      <p className={styles.footer}>
        <span>
          {hasOlder ? 'Latest ' : ''}
          {pluralize(lines.length, 'line')}
          {loadingOlder && ', loading older lines…'}
        </span>
        {hasOlder && !loadingOlder && (
          <Button variant="subtle" onClick={onOlder}>
            Load older lines
          </Button>
        )}
      </p>
      {!following && (
        <Button className={styles.jump} rightSection={<IconArrowDown size={15} />} onClick={jump}>
          Jump to latest{newer > 0 ? ` (${newer} new)` : ''}
        </Button>
      )}
    </div>
  )
}

const Line = memo(function Line({ line, search }: { line: LogLine; search: string }) {
  const details = detailText(line)
  return (
    <div className={styles.line} data-level={line.level} data-stream={streamOf(line) ?? undefined}>
      <time dateTime={line.timestamp} title={formatDateTime(line.timestamp)}>
        {logTime(line.timestamp)}
      </time>{' '}
      <span className={styles.levelLabel}>{levelLabel(line)}</span>{' '}
      <span className={styles.message}>
        <HighlightedText text={line.message} search={search} />
        {details !== '' && <span className={styles.details}> {details}</span>}
      </span>
    </div>
  )
})

/** A text with the search matches marked. */
function HighlightedText({ text, search }: { text: string; search: string }) {
  return splitMatches(text, search).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part of a fixed text is its place.
    <Fragment key={index}>{index % 2 === 1 ? <mark>{part}</mark> : part}</Fragment>
  ))
}
