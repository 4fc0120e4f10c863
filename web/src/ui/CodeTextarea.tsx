import { type RefObject, useId, useRef } from 'react'
import { groupByLine } from '~/lib/lines'
import type { ProblemError } from '~/lib/problems'
import styles from './CodeTextarea.module.css'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  /** Their lines are marked in the gutter. */
  findings: readonly (ProblemError & { severity?: string })[]
  textareaRef: RefObject<HTMLTextAreaElement | null>
}

/** A text area with line numbers that mark findings. */
export function CodeTextarea({ label, value, onChange, findings, textareaRef }: Props) {
  const id = useId()
  const gutter = useRef<HTMLDivElement>(null)
  const lines = groupByLine(findings)
  const syncScroll = () => {
    if (gutter.current && textareaRef.current) gutter.current.scrollTop = textareaRef.current.scrollTop
  }
  return (
    <div className={styles.frame}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.box}>
        <div ref={gutter} className={styles.gutter} aria-hidden="true">
          {value.split('\n').map((_, index) => {
            const lineFindings = lines.get(index + 1)
            const kind = lineFindings?.some((finding) => finding.severity !== 'warning')
              ? 'error'
              : lineFindings && 'warning'
            return (
              <div
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
                key={index}
                data-kind={kind}
                title={lineFindings?.map((finding) => finding.message).join('\n')}
              >
                {index + 1}
              </div>
            )
          })}
        </div>
        <textarea
          id={id}
          ref={textareaRef}
          className={styles.text}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={syncScroll}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          wrap="off"
          aria-invalid={findings.some((finding) => finding.severity !== 'warning') || undefined}
        />
      </div>
    </div>
  )
}
