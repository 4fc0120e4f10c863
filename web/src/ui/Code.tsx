import styles from './Code.module.css'

/** Text in a scrollable monospace box. */
export function Code({
  text,
  label,
  lines = false,
  wrap = false,
}: {
  text: string
  label: string
  /** With line numbers. */
  lines?: boolean
  wrap?: boolean
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
    <section className={styles.box} tabIndex={0} aria-label={label}>
      {lines && (
        <pre className={styles.numbers} aria-hidden="true">
          {text
            .replace(/\n$/, '')
            .split('\n')
            .map((_, index) => index + 1)
            .join('\n')}
        </pre>
      )}
      <pre className={styles.code} data-wrap={wrap || undefined}>
        {text}
      </pre>
    </section>
  )
}

/** A unified diff. Each line keeps its sign, so that colour is not the only cue. */
export function Diff({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard.
    <section className={styles.box} tabIndex={0} aria-label={label}>
      <pre className={styles.code}>
        {text.split('\n').map((line, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: a line of a fixed text is its place.
            key={index}
            className={styles.line}
            data-sign={line.startsWith('+++') || line.startsWith('---') ? undefined : line.slice(0, 1)}
          >
            {line === '' ? ' ' : line}
          </span>
        ))}
      </pre>
    </section>
  )
}
