import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { count } from '~/lib/formatting'
import { rangeOfLine } from '~/lib/lines'
import type { Fault } from '~/lib/problems'
import { LinedText } from './CodeTextarea'
import { Done } from './Notice'
import styles from './YamlEditor.module.css'

export type Found = Fault & { severity?: string }
type Checked = { valid: boolean; errors: readonly Found[]; warnings: readonly Found[] }

type Props = {
  label: string
  /** What to write, while nothing is written. */
  hint: string
  text: string
  onChange: (text: string) => void
  /** Named, so that one check is not taken for another. */
  checks: string
  /** Without one the server looks at the text when it is saved. */
  check?: (text: string, signal: AbortSignal) => Promise<Checked>
  extra?: readonly Found[]
  foot: ReactNode
}

/** YAML with the server's findings, each at its line, checked while one writes. */
export function CheckedText({ label, hint, text, onChange, checks, check, extra = [], foot }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const settled = useSettled(text, 350)
  const { data, isFetching } = useQuery({
    queryKey: [checks, settled],
    queryFn: ({ signal }) => check?.(settled, signal) ?? null,
    enabled: check !== undefined && settled.trim() !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  const findings: Found[] =
    text.trim() === ''
      ? []
      : [
          ...(data?.errors ?? []).map((finding) => ({ ...finding, severity: 'error' })),
          ...(data?.warnings ?? []).map((finding) => ({ ...finding, severity: 'warning' })),
          ...extra,
        ]
  const show = (finding: Found) => {
    const at = area.current
    if (at === null) return
    at.focus()
    const [from, to] = rangeOfLine(text, finding.line ?? 1)
    at.setSelectionRange(from, to)
    at.scrollTop = Math.max(0, ((finding.line ?? 1) - 6) * 18)
  }
  return (
    <div className={styles.editor}>
      <LinedText label={label} value={text} onChange={onChange} faults={findings} area={area} />
      <div className={styles.side}>
        <h2>Check</h2>
        <div className={styles.findings} aria-live="polite">
          {text.trim() === '' || (check === undefined && findings.length === 0) ? (
            <p className={styles.quiet}>{hint}</p>
          ) : findings.length === 0 ? (
            data?.valid && !isFetching ? (
              <Done>Nothing to object to.</Done>
            ) : (
              <p className={styles.quiet}>Checking…</p>
            )
          ) : (
            <>
              <p className={styles.quiet}>{summary(findings)}</p>
              <ul>
                {findings.map((finding) => (
                  <li key={`${finding.path}${finding.message}${finding.line}`}>
                    <Finding finding={finding} onShow={show} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        {foot}
      </div>
    </div>
  )
}

function Finding({ finding, onShow }: { finding: Found; onShow: (finding: Found) => void }) {
  return (
    <UnstyledButton
      className={styles.finding}
      data-severity={finding.severity}
      onClick={() => onShow(finding)}
    >
      <span className={styles.place}>
        {finding.severity === 'warning' ? 'Note' : 'Fault'}
        {finding.line != null && `, line ${finding.line}`}
        {finding.path !== '' && (
          <>
            {' '}
            <code>{finding.path}</code>
          </>
        )}
      </span>
      <span>{finding.message}</span>
    </UnstyledButton>
  )
}

function summary(findings: readonly Found[]): string {
  const notes = findings.filter((finding) => finding.severity === 'warning').length
  const faults = findings.length - notes
  return [faults > 0 && count(faults, 'fault'), notes > 0 && count(notes, 'note')].filter(Boolean).join(', ')
}

/** The value after nobody changed it for a moment. */
function useSettled(value: string, delay: number): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay)
    return () => clearTimeout(timer)
  }, [value, delay])
  return settled
}
