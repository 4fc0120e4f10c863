import { useQuery } from '@tanstack/react-query'
import { content } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { fileName } from '~/lib/files'
import { prettyJson } from '~/lib/json'
import { LoadingText } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { ComparedText } from '~/ui/TextDiff'

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
  return <ComparedText before={shown(old.data)} after={shown(now.data)} of={fileName(after)} />
}
