import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { content } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { downloadAddress, fileName } from '~/lib/files'
import { prettyJson } from '~/lib/lossless'
import { size } from '~/lib/sizes'
import { Code } from '~/ui/Code'
import { Failure } from '~/ui/Failure'
import { LoadingText } from '~/ui/Loading'

const Markdown = lazy(() => import('~/ui/Markdown'))

/** More than this is not drawn; it can be downloaded. */
const MOST = 1_000_000
const READABLE = /^(json|md|mmd|txt|py|html|csv|yaml|yml|xml|log)$/

/** What an artifact holds, as far as a browser can show it safely. */
export function Preview({ artifact }: { artifact: Artifact }) {
  const shown = READABLE.test(artifact.format) || /^text\/|json/.test(artifact.media_type)
  if (!shown || artifact.size_bytes > MOST) {
    return (
      <p>
        {shown
          ? `${size(artifact.size_bytes)} is too much to show here. `
          : 'This kind of file is not shown here. '}
        <a href={downloadAddress(artifact)} download>
          Download {fileName(artifact)}
        </a>
      </p>
    )
  }
  return <Readable artifact={artifact} />
}

function Readable({ artifact }: { artifact: Artifact }) {
  const { data, error, refetch } = useQuery(content(artifact.artifact_record_id, artifact.checksum))
  if (error !== null)
    return <Failure what="The content could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  if (data === '') return <p>This file is empty.</p>
  if (artifact.format === 'md') {
    return (
      <Suspense fallback={<LoadingText />}>
        <Markdown>{data}</Markdown>
      </Suspense>
    )
  }
  return (
    <Code
      text={artifact.format === 'json' ? prettyJson(data) : data}
      label={`Content of ${fileName(artifact)}`}
      wrap={artifact.format === 'txt' || artifact.format === 'json'}
    />
  )
}
