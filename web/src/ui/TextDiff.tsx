import { useMemo } from 'react'
import { comparison } from '~/lib/diff'
import { count } from '~/lib/formatting'
import styles from './TextDiff.module.css'

/** Two texts line by line: each changed line keeps its sign, so that colour is not all there is. */
export function ComparedText({ before, after, of }: { before: string; after: string; of: string }) {
  const lines = useMemo(() => comparison(before, after), [before, after])
  const added = lines.filter((line) => line.sign === '+').length
  const gone = lines.filter((line) => line.sign === '−').length
  return (
    <>
      <p className={styles.said}>
        {count(added, 'line')} added, {gone} removed.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.compared} tabIndex={0} aria-label={`Changes of ${of}`}>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of a fixed text is its place.
          <p key={index} data-sign={line.sign}>
            {line.sign !== '…' && <span>{line.sign}</span>}
            <span>
              {line.pieces.map((piece, place) =>
                piece.kind === 'same' ? (
                  piece.text
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a piece of a fixed text is its place.
                  <mark key={place}>{piece.text}</mark>
                ),
              )}
            </span>
          </p>
        ))}
      </section>
    </>
  )
}
