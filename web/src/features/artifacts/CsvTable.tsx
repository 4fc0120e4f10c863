import { useMemo } from 'react'
import { isNumeric, parseCsv } from '~/lib/csv'
import styles from './CsvTable.module.css'

/** More rows are not rendered. */
const MAX_ROWS = 500

/** A CSV file as a table. The first row contains the titles. */
export function CsvTable({ text, label }: { text: string; label: string }) {
  const [titles = [], ...rows] = useMemo(() => parseCsv(text, MAX_ROWS + 2), [text])
  const shown = rows.slice(0, MAX_ROWS)
  const width = Math.max(titles.length, ...shown.map((row) => row.length))
  const columns = Array.from({ length: width }, (_, column) => isNumeric(shown, column))
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
      <section className={styles.box} tabIndex={0} aria-label={label}>
        <table>
          <thead>
            <tr>
              {columns.map((isNumber, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place.
                <Title key={column} isNumber={isNumber} title={titles[column] ?? ''} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row of a fixed text is its place.
              <tr key={index}>
                {columns.map((isNumber, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place.
                  <td key={column} data-figures={isNumber || undefined}>
                    {row[column] ?? ''}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > MAX_ROWS && (
        <p className={styles.more}>
          Showing the first {MAX_ROWS} rows. Download the file to see all of them.
        </p>
      )}
    </>
  )
}

/** An empty heading is not announced as a heading. */
function Title({ title, isNumber }: { title: string; isNumber: boolean }) {
  if (title.trim() === '') return <td />
  return (
    <th scope="col" data-figures={isNumber || undefined}>
      {title}
    </th>
  )
}
