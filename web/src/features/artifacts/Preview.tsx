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
import styles from './Artifacts.module.css'
import { CsvTable } from './CsvTable'

const Markdown = lazy(() => import('~/ui/Markdown'))

/** More than this is not drawn; it can be downloaded. */
const MOST = 1_000_000
const READABLE = /^(json|md|mmd|txt|py|html|csv|yaml|yml|xml|log|sql|js|ts|sh|css|toml|ini)$/
/** What could be drawn, and is shown as it is written. */
const SOURCES: Record<string, string> = {
  html: 'The source of a page. Pages that others have made are not opened here.',
  mmd: 'The source of a Mermaid diagram.',
}

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
  const label = `Content of ${fileName(artifact)}`
  switch (artifact.format) {
    case 'md':
      return (
        <Suspense fallback={<LoadingText />}>
          <Markdown>{data}</Markdown>
        </Suspense>
      )
    case 'json':
      return <Code text={prettyJson(data)} label={label} wrap />
    case 'csv':
      return <CsvTable text={data} label={label} />
    case 'txt':
    case 'log':
      return <Code text={data} label={label} wrap />
    default:
      return (
        <>
          {SOURCES[artifact.format] !== undefined && (
            <p className={styles.source}>{SOURCES[artifact.format]}</p>
          )}
          <Code text={data} label={label} lines />
        </>
      )
  }
}
