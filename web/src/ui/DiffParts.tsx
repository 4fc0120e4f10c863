import type { DiffPart } from '~/lib/diff'

/** One line of a diff, with the changed words marked. */
export function DiffParts({ parts }: { parts: readonly DiffPart[] }) {
  return parts.map(({ kind, text }, index) =>
    kind === 'same' ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places.
      <mark key={index}>{text}</mark>
    ),
  )
}
