import styles from './FirstRun.module.css'

/** A cairn with one stone placed and two outlined. */
export function CairnDrawing() {
  return (
    <svg className={styles.stones} viewBox="0 0 180 200" aria-hidden="true" focusable="false">
      <ellipse cx="88" cy="190" rx="84" ry="5" fill="var(--line)" />
      <path d="M24 132 86 124l62 9 13 33q2 6-4 10l-19 12H32l-20-11q-5-3-3-10z" fill="var(--ink)" />
      <path
        d="m76 156 9 9 16-17"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <path
        d="m34 108 15-27 62-7 28 14-9 23-74 4z"
        fill="none"
        stroke="var(--pebble-line)"
        strokeWidth="1.5"
        strokeDasharray="5 4"
      />
      <text x="86" y="101" textAnchor="middle">
        2
      </text>
      <path
        d="m54 53 9-31 32-14 26 21-5 28-41 7z"
        fill="var(--ochre-bg)"
        stroke="var(--ochre)"
        strokeWidth="1.5"
        strokeDasharray="5 4"
      />
      <text x="88" y="43" textAnchor="middle" fill="var(--ochre-tx)">
        3
      </text>
    </svg>
  )
}
