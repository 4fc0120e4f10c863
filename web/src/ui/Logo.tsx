/** A cairn of three stones. */
export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path fill="var(--ochre)" d="M9.4 4.1 12.6 2.4l2.9 1.7-.6 3.2-3 1-2.7-1.3z" />
      <path fill="var(--ink)" d="M6.4 11.2 9.1 9l6.2-.2 2.6 2.1-1.8 2.5-8 .4z" />
      <path fill="var(--ink)" d="m2.6 18.7 2-3.3 5-1 6.6.3 3.9 1.7 1.4 3-2.6 2.2H5.4z" />
    </svg>
  )
}
