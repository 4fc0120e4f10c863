import type { ParameterChange } from '~/api/types'
import { fillPlaceholders, hasPlaceholders, type Parameters, toLine } from '~/lib/actions'
import { changedLines } from '~/lib/diff'
import { formatValue } from '~/lib/json'
import { DiffParts } from '~/ui/DiffParts'
import styles from './ModifyDrawer.module.css'

const toText = (value: unknown) => (typeof value === 'string' ? value : formatValue(value))

/** The changed parameters with their old and new values. */
export function ParameterChanges({ changes }: { changes: readonly ParameterChange[] }) {
  return (
    <ul className={styles.changes}>
      {changes.map((change) => (
        <li key={change.path}>
          <div className={styles.field}>
            <code>{change.field}</code>
            <span>{changeSummary(change)}</span>
          </div>
          {linesOf(change).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line of a fixed text is its place.
            <p key={index} data-sign={line.sign}>
              <span aria-hidden="true">{line.sign}</span>
              <span className="unseen">{line.sign === '−' ? 'old:' : 'new:'}</span>
              <span>
                <DiffParts parts={line.parts} />
              </span>
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}

function linesOf(change: ParameterChange) {
  if (change.change_type === 'added') return changedLines('', toText(change.modified))
  if (change.change_type === 'removed') return changedLines(toText(change.original), '')
  return changedLines(toText(change.original), toText(change.modified))
}

function changeSummary(change: ParameterChange): string {
  if (change.change_type !== 'updated') return change.change_type
  if (change.difference == null || change.difference === 0) return ''
  const by = Math.abs(change.difference)
  const digits = Math.max(decimals(change.original), decimals(change.modified))
  return `${by.toFixed(digits)} ${change.difference < 0 ? 'less' : 'more'}`
}

const decimals = (value: unknown) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0

/** A preview of texts with placeholders, which change with other parameters. */
export function RenderedText({ parameters }: { parameters: Parameters }) {
  const texts = ['subject', 'body'].filter((name) => hasPlaceholders(parameters[name]))
  if (texts.length === 0) return null
  return (
    <section className={styles.rendered} aria-label="Preview">
      <h3>Preview</h3>
      {texts.map((name) => (
        <p key={name}>{fillPlaceholders(toLine(parameters[name]), parameters).trimEnd()}</p>
      ))}
    </section>
  )
}
