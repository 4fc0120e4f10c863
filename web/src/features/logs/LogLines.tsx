import { Button } from '@mantine/core'
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks'
import { IconArrowDown } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { LogLine } from '~/api/types'
import { exact } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { detailWords, logTime, markOf, rowsOf, split, streamOf } from '~/lib/logs'
import styles from './Log.module.css'

type Props = {
  lines: readonly LogLine[]
  older: boolean
  loadingOlder: boolean
  onOlder: () => void
  search: string
  wrap: boolean
  label: string
}

const ROW = 18
const CHARACTER = 7.25
/** What stands beside a message, and on a phone before it. */
const BESIDE = 190
const PADDING = 26
const BEFORE = ' '.repeat(15)
/** So close to the first line older ones are read. */
const NEAR = 40
const AT_END = 24

/** Only what can be seen is drawn; it stays at the end until somebody scrolls up to read. */
export function LogLines({ lines, older, loadingOlder, onOlder, search, wrap, label }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const { ref: sized, width } = useElementSize()
  const [following, setFollowing] = useState(true)
  const [left, setLeft] = useState(0)
  const narrow = useMediaQuery('(max-width: 760px)', false)
  const room = width - (narrow ? PADDING : BESIDE)
  const columns = wrap ? Math.max(20, Math.floor(room / CHARACTER)) : Number.POSITIVE_INFINITY
  const before = narrow ? BEFORE : ''
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => rowsOf(`${before}${lines[index]?.message}`, columns) * ROW,
    getItemKey: (index) => lines[index]?.log_id ?? index,
    overscan: 15,
    paddingStart: 8,
    paddingEnd: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
  })

  // It begins at the end; and what was measured at another width, or unbroken, does not hold any more.
  const end = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the width of a line changes what it measures.
  useLayoutEffect(() => {
    virtual.measure()
    // A row that stays as it is would not tell its size again.
    for (const row of virtual.elementsCache.values()) virtual.measureElement(row)
    if (end.current) virtual.scrollToEnd()
  }, [wrap, width, virtual])

  const items = virtual.getVirtualItems()
  const start = items[0]?.index ?? 0
  useEffect(() => {
    if (start < NEAR && older && !loadingOlder && !following) onOlder()
  }, [start, older, loadingOlder, following, onOlder])

  const last = lines.at(-1)?.log_id ?? 0
  const newer = following ? 0 : lines.length - 1 - lines.findLastIndex((line) => line.log_id <= left)
  const follow = () => {
    const at = box.current
    if (at === null) return
    end.current = at.scrollHeight - at.scrollTop - at.clientHeight <= AT_END
    if (end.current === following) return
    setFollowing(end.current)
    if (!end.current) setLeft(last)
  }
  const jump = () => {
    virtual.scrollToEnd()
    end.current = true
    setFollowing(true)
    box.current?.focus()
  }
  return (
    <div className={styles.body}>
      <div
        ref={useMergedRef(box, sized)}
        className={styles.log}
        data-wrap={wrap || undefined}
        data-following={following || undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
        onScroll={follow}
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
      <p className={styles.foot}>
        <span>
          {older ? 'The newest ' : ''}
          {count(lines.length, 'line')}
          {loadingOlder && ', reading older ones…'}
        </span>
        {older && !loadingOlder && (
          <Button variant="subtle" className={styles.older} onClick={onOlder}>
            Load older lines
          </Button>
        )}
      </p>
      {!following && (
        <Button className={styles.jump} rightSection={<IconArrowDown size={15} />} onClick={jump}>
          Jump to the newest{newer > 0 ? ` (${newer} new)` : ''}
        </Button>
      )}
    </div>
  )
}

const Line = memo(function Line({ line, search }: { line: LogLine; search: string }) {
  const details = detailWords(line)
  return (
    <div className={styles.line} data-level={line.level} data-stream={streamOf(line) ?? undefined}>
      <time dateTime={line.timestamp} title={exact(line.timestamp)}>
        {logTime(line.timestamp)}
      </time>{' '}
      <span className={styles.mark}>{markOf(line)}</span>{' '}
      <span className={styles.message}>
        <Found text={line.message} search={search} />
        {details !== '' && <span className={styles.details}> {details}</span>}
      </span>
    </div>
  )
})

/** The text, with what is searched for marked. */
function Found({ text, search }: { text: string; search: string }) {
  return split(text, search).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part of a fixed text is its place.
    <Fragment key={index}>{index % 2 === 1 ? <mark>{part}</mark> : part}</Fragment>
  ))
}
