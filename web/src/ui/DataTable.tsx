import type { CSSProperties, ReactNode } from 'react'
import styles from './DataTable.module.css'
import { Panel } from './Page'

/** `width` is a grid track. On a phone, `untitled` columns are shown without their title. */
export type Column = { title: string; width: string; alignEnd?: boolean; untitled?: boolean }
export type DataRow = { key: string; cells: readonly ReactNode[]; faded?: boolean; below?: ReactNode }

/** A table on wide screens. On a phone, each row is a list of titled values. */
export function DataTable({
  label,
  columns,
  rows,
}: {
  label: string
  columns: readonly Column[]
  rows: readonly DataRow[]
}) {
  return (
    <div style={gridTracks(columns)}>
      <Panel>
        <div className={styles.head} aria-hidden="true">
          {columns.map((column) => (
            <span key={column.title} data-end={column.alignEnd || undefined}>
              {!(column.untitled && column.alignEnd) && column.title}
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
                    data-end={column.alignEnd || undefined}
                    data-bare={column.untitled || undefined}
                    data-empty={isEmpty(row.cells[index]) || undefined}
                  >
                    {!column.untitled && <span className={styles.title}>{column.title} </span>}
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

const gridTracks = (columns: readonly Column[]) =>
  ({ '--tracks': columns.map((column) => column.width).join(' ') }) as CSSProperties
