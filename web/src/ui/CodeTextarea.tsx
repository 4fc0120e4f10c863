import { type RefObject, useId, useRef } from 'react'
import { byLine } from '~/lib/lines'
import type { Fault } from '~/lib/problems'
import styles from './CodeTextarea.module.css'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  /** Marks their lines in the gutter. */
  faults: readonly (Fault & { severity?: string })[]
  area: RefObject<HTMLTextAreaElement | null>
}

/** A text to write in, with line numbers that show where something is wrong. */
export function LinedText({ label, value, onChange, faults, area }: Props) {
  const id = useId()
  const gutter = useRef<HTMLDivElement>(null)
  const lines = byLine(faults)
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop
  }
  return (
    <div className={styles.frame}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box}>
        <div ref={gutter} className={styles.gutter} aria-hidden="true">
          {value.split('\n').map((_, index) => {
            const found = lines.get(index + 1)
            const kind = found?.some((fault) => fault.severity !== 'warning') ? 'error' : found && 'warning'
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
              <div key={index} data-kind={kind} title={found?.map((fault) => fault.message).join('\n')}>
                {index + 1}
              </div>
            )
          })}
        </div>
        <textarea
          id={id}
          ref={area}
          className={styles.text}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={follow}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          wrap="off"
          aria-invalid={faults.some((fault) => fault.severity !== 'warning') || undefined}
        />
      </div>
    </div>
  )
}
