import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { content } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { comparison } from '~/lib/differences'
import { fileName } from '~/lib/files'
import { prettyJson } from '~/lib/lossless'
import { count } from '~/lib/sizes'
import { Failure } from '~/ui/Failure'
import { LoadingText } from '~/ui/Loading'
import styles from './Artifacts.module.css'

/** What changed in a file since the version before. */
export function Compared({ before, after }: { before: Artifact; after: Artifact }) {
  const old = useQuery(content(before.artifact_record_id, before.checksum))
  const now = useQuery(content(after.artifact_record_id, after.checksum))
  const error = old.error ?? now.error
  if (error !== null) {
    const retry = () => void Promise.all([old.refetch(), now.refetch()])
    return <Failure what="The contents could not be read." error={error} retry={retry} />
  }
  if (old.data === undefined || now.data === undefined) return <LoadingText />
  const shown = after.format === 'json' ? prettyJson : (text: string) => text
  return <Lines before={shown(old.data)} after={shown(now.data)} of={fileName(after)} />
}

function Lines({ before, after, of }: { before: string; after: string; of: string }) {
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
