import type { CSSProperties, ReactNode } from 'react'
import styles from './DataTable.module.css'
import { Panel } from './Page'

/** `width` is a grid track; `end` sets figures at the right. `bare` needs no title beside what it shows: a name, buttons. */
export type Column = { title: string; width: string; end?: boolean; bare?: boolean }
export type SheetRow = { key: string; cells: readonly ReactNode[]; faded?: boolean; below?: ReactNode }

/** Rows with columns on a desk, and on a phone each row below the other with its titles beside. */
export function Sheet({
  label,
  columns,
  rows,
}: {
  label: string
  columns: readonly Column[]
  rows: readonly SheetRow[]
}) {
  return (
    <div className={styles.sheet} style={tracksOf(columns)}>
      <Panel>
        <div className={styles.head} aria-hidden="true">
          {columns.map((column) => (
            <span key={column.title} data-end={column.end || undefined}>
              {!(column.bare && column.end) && column.title}
            </span>
          ))}
        </div>
        <ul aria-label={label}>
          {rows.map((row) => (
            <li key={row.key} className={styles.item} data-faded={row.faded || undefined}>
              <div className={styles.row}>
                {columns.map((column, index) => (
                  <div
                    key={column.title}
                    className={styles.cell}
                    data-end={column.end || undefined}
                    data-bare={column.bare || undefined}
                    data-empty={isEmpty(row.cells[index]) || undefined}
                  >
                    {!column.bare && <span className={styles.title}>{column.title} </span>}
                    <div className={styles.value}>{row.cells[index]}</div>
                  </div>
                ))}
              </div>
              {row.below}
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  )
}

const isEmpty = (cell: ReactNode) => cell === null || cell === undefined || cell === '' || cell === false

const tracksOf = (columns: readonly Column[]) =>
  ({ '--tracks': columns.map((column) => column.width).join(' ') }) as CSSProperties
