import { useMemo } from 'react'
import { diffLines } from '~/lib/diff'
import { pluralize } from '~/lib/formatting'
import { DiffParts } from './DiffParts'
import styles from './TextDiff.module.css'

/** Two texts line by line. Each changed line keeps its sign, so that colour is not the only cue. */
export function TextDiff({ before, after, name }: { before: string; after: string; name: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const added = lines.filter((line) => line.sign === '+').length
  const removed = lines.filter((line) => line.sign === '−').length
  return (
    <>
      <p className={styles.summary}>
        {pluralize(added, 'line')} added, {removed} removed.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.lines} tabIndex={0} aria-label={`Changes in ${name}`}>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of a fixed text is its place.
          <p key={index} data-sign={line.sign}>
            {line.sign !== '…' && <span>{line.sign}</span>}
            <span>
              <DiffParts parts={line.parts} />
            </span>
          </p>
        ))}
      </section>
    </>
  )
}
