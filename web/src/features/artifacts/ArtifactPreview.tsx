import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { artifactContent } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { downloadUrl, fileName } from '~/lib/files'
import { formatBytes } from '~/lib/formatting'
import { formatJson } from '~/lib/json'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { HtmlPreview } from './HtmlPreview'

const CsvTable = lazy(() => import('./CsvTable').then((module) => ({ default: module.CsvTable })))
const DiagramPreview = lazy(() =>
  import('./DiagramPreview').then((module) => ({ default: module.DiagramPreview })),
)
const Markdown = lazy(() => import('~/ui/Markdown'))

/** Larger files can only be downloaded. */
export const MAX_PREVIEW_BYTES = 1_000_000
const READABLE = /^(json|md|mmd|txt|py|html|csv|yaml|yml|xml|log|sql|js|ts|sh|css|toml|ini)$/
export const isReadable = ({ format, media_type }: Artifact) =>
  READABLE.test(format) || /^text\/|json/.test(media_type)

/** A safe preview of an artifact. */
export function ArtifactPreview({ artifact }: { artifact: Artifact }) {
  const shown = isReadable(artifact)
  if (!shown || artifact.size_bytes > MAX_PREVIEW_BYTES) {
    return (
      <p>
        {shown
          ? `This file is too large to preview (${formatBytes(artifact.size_bytes)}). `
          : "This file type can't be previewed. "}
        <a href={downloadUrl(artifact)} download>
          Download {fileName(artifact)}
        </a>
      </p>
    )
  }
  return <Readable artifact={artifact} />
}

function Readable({ artifact }: { artifact: Artifact }) {
  const { data, error, refetch } = useQuery(artifactContent(artifact.artifact_record_id, artifact.checksum))
  if (error !== null)
    return <LoadError title="Couldn't load the content." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  if (data === '') return <p>This file is empty.</p>
  const label = `Content of ${fileName(artifact)}`
  switch (artifact.format) {
    case 'md':
      return (
        <Suspense fallback={<LoadingText />}>
          <Markdown>{data}</Markdown>
        </Suspense>
      )
    case 'json':
      return <Code text={formatJson(data)} label={label} wrap />
    case 'csv':
      return (
        <Suspense fallback={<LoadingText />}>
          <CsvTable text={data} label={label} />
        </Suspense>
      )
    case 'txt':
    case 'log':
      return <Code text={data} label={label} wrap />
    case 'mmd':
      return (
        <Suspense fallback={<LoadingText />}>
          <DiagramPreview text={data} name={fileName(artifact)} />
        </Suspense>
      )
    case 'html':
      return <HtmlPreview text={data} name={fileName(artifact)} />
    default:
      return <Code text={data} label={label} lines />
  }
}
