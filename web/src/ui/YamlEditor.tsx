import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { pluralize } from '~/lib/formatting'
import { rangeOfLine } from '~/lib/lines'
import type { ProblemError } from '~/lib/problems'
import { CodeTextarea } from './CodeTextarea'
import { SuccessNote } from './Notice'
import styles from './YamlEditor.module.css'

export type EditorFinding = ProblemError & { severity?: string }
type CheckResult = { is_valid: boolean; errors: readonly EditorFinding[]; warnings: readonly EditorFinding[] }

type Props = {
  label: string
  /** Shown while the editor is empty. */
  hint: string
  text: string
  onChange: (text: string) => void
  /** Part of the query key, so that results of different checks are not mixed up. */
  checkName: string
  /** Without it, the text is validated when it is saved. */
  check?: (text: string, signal: AbortSignal) => Promise<CheckResult>
  extraFindings?: readonly EditorFinding[]
  footer: ReactNode
}

/** A YAML editor that shows the server's findings next to their lines while the user types. */
export function YamlEditor({
  label,
  hint,
  text,
  onChange,
  checkName,
  check,
  extraFindings = [],
  footer,
}: Props) {
  const textareaRef = useRef<HTMLTextAreaElement>(null)
  const debounced = useSettled(text, 350)
  const { data, isFetching } = useQuery({
    queryKey: [checkName, debounced],
    queryFn: ({ signal }) => check?.(debounced, signal) ?? null,
    enabled: check !== undefined && debounced.trim() !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  const findings: EditorFinding[] =
    text.trim() === ''
      ? []
      : [
          ...(data?.errors ?? []).map((finding) => ({ ...finding, severity: 'error' })),
          ...(data?.warnings ?? []).map((finding) => ({ ...finding, severity: 'warning' })),
          ...extraFindings,
        ]
  const selectLine = (finding: EditorFinding) => {
    const textarea = textareaRef.current
    if (textarea === null) return
    textarea.focus()
    const [from, to] = rangeOfLine(text, finding.line ?? 1)
    textarea.setSelectionRange(from, to)
    textarea.scrollTop = Math.max(0, ((finding.line ?? 1) - 6) * 18)
  }
  return (
    <div className={styles.editor}>
      <CodeTextarea
        label={label}
        value={text}
        onChange={onChange}
        findings={findings}
        textareaRef={textareaRef}
      />
      <div className={styles.side}>
        <h2>Validation</h2>
        <div className={styles.findings} aria-live="polite">
          {text.trim() === '' || (check === undefined && findings.length === 0) ? (
            <p className={styles.muted}>{hint}</p>
          ) : findings.length === 0 ? (
            data?.is_valid && !isFetching ? (
              <SuccessNote>No problems found.</SuccessNote>
            ) : (
              <p className={styles.muted}>Validating…</p>
            )
          ) : (
            <>
              <p className={styles.muted}>{summary(findings)}</p>
              <ul>
                {findings.map((finding) => (
                  <li key={`${finding.path}${finding.message}${finding.line}`}>
                    <Finding finding={finding} onShow={selectLine} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        {footer}
      </div>
    </div>
  )
}

function Finding({ finding, onShow }: { finding: EditorFinding; onShow: (finding: EditorFinding) => void }) {
  return (
    <UnstyledButton
      className={styles.finding}
      data-severity={finding.severity}
      onClick={() => onShow(finding)}
    >
      <span className={styles.location}>
        {finding.severity === 'warning' ? 'Warning' : 'Error'}
        {finding.line != null && ` on line ${finding.line}`}
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

function summary(findings: readonly EditorFinding[]): string {
  const warningCount = findings.filter((finding) => finding.severity === 'warning').length
  const errorCount = findings.length - warningCount
  return [
    errorCount > 0 && pluralize(errorCount, 'error'),
    warningCount > 0 && pluralize(warningCount, 'warning'),
  ]
    .filter(Boolean)
    .join(', ')
}

/** The value after a pause in typing. */
function useSettled(value: string, delay: number): string {
  const [debounced, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay)
    return () => clearTimeout(timer)
  }, [value, delay])
  return debounced
}
