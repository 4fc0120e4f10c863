import { useQuery } from '@tanstack/react-query'
import { artifactContent } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { fileName } from '~/lib/files'
import { formatJson } from '~/lib/json'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { TextDiff } from '~/ui/TextDiff'

/** The changes of a file since the previous version. */
export function ArtifactDiff({ before, after }: { before: Artifact; after: Artifact }) {
  const old = useQuery(artifactContent(before.artifact_record_id, before.checksum))
  const now = useQuery(artifactContent(after.artifact_record_id, after.checksum))
  const error = old.error ?? now.error
  if (error !== null) {
    const retry = () => void Promise.all([old.refetch(), now.refetch()])
    return <LoadError title="Couldn't load the content." error={error} retry={retry} />
  }
  if (old.data === undefined || now.data === undefined) return <LoadingText />
  const shown = after.format === 'json' ? formatJson : (text: string) => text
  return <TextDiff before={shown(old.data)} after={shown(now.data)} name={fileName(after)} />
}
