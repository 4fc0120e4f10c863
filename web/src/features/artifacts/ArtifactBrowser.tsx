import { ActionIcon, SegmentedControl, Tooltip, UnstyledButton } from '@mantine/core'
import {
  IconBraces,
  IconDownload,
  IconFile,
  IconFileCode,
  IconFileText,
  IconMarkdown,
  IconPaperclip,
  IconSchema,
  IconTable,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { runArtifacts } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { changeLabel, previousVersionOf } from '~/lib/artifactChanges'
import { downloadUrl, fileName } from '~/lib/files'
import { formatBytes, shortDigest } from '~/lib/formatting'
import { LoadingText } from '~/ui/Loading'
import { ArtifactPreview, isReadable, MAX_PREVIEW_BYTES } from './ArtifactPreview'
import styles from './Artifacts.module.css'

const ArtifactDiff = lazy(() => import('./ArtifactDiff').then((module) => ({ default: module.ArtifactDiff })))

const ICONS: Record<string, typeof IconFile> = {
  json: IconBraces,
  md: IconMarkdown,
  txt: IconFileText,
  csv: IconTable,
  html: IconFileCode,
  mmd: IconSchema,
  py: IconFileCode,
}

const isPreviewable = (artifact: Artifact) => isReadable(artifact) && artifact.size_bytes <= MAX_PREVIEW_BYTES

type Props = {
  artifacts: readonly Artifact[]
  /** The selected record, by default the first one. */
  selected: string | undefined
  onSelect: (recordId: string) => void
  /** Shown if there are no artifacts. */
  emptyText: string
  /** The run that this one is based on. */
  previousRun?: { runId: string; version: number } | undefined
}

/** The artifacts of an execution with a preview. */
export function ArtifactBrowser({ artifacts, selected, onSelect, emptyText, previousRun }: Props) {
  const artifact = artifacts.find((item) => item.artifact_record_id === selected) ?? artifacts[0]
  const [view, setView] = useState('now')
  const { data: previousArtifacts } = useQuery({
    ...runArtifacts(previousRun?.runId ?? ''),
    enabled: previousRun !== undefined && artifacts.length > 0,
  })
  if (artifact === undefined) return <p className={styles.empty}>{emptyText}</p>
  const previous = previousVersionOf(artifact, previousArtifacts)
  const isCompared =
    previous !== undefined &&
    previous.checksum !== artifact.checksum &&
    [previous, artifact].every(isPreviewable)
  return (
    <div className={styles.pane}>
      <ul>
        {artifacts.map((item) => {
          const Icon = ICONS[item.format] ?? (item.artifact_type === 'file' ? IconPaperclip : IconFile)
          return (
            <li key={item.artifact_record_id}>
              <UnstyledButton
                className={styles.row}
                aria-pressed={item === artifact}
                onClick={() => onSelect(item.artifact_record_id)}
              >
                <Icon size={16} stroke={1.6} aria-hidden="true" />
                <code className={styles.name}>{fileName(item)}</code>
                {item.promoted_to_permanent_at === null && <span className={styles.note}>staged</span>}
                {previousRun !== undefined && previousArtifacts !== undefined && (
                  <span className={styles.note}>
                    {changeLabel(item, previousVersionOf(item, previousArtifacts), previousRun.version)}
                  </span>
                )}
                {item.is_stale && <span className={styles.note}>stale</span>}
                <span className={styles.size}>{formatBytes(item.size_bytes)}</span>
              </UnstyledButton>
            </li>
          )
        })}
      </ul>
      <div className={styles.tools}>
        {isCompared ? (
          <SegmentedControl
            aria-label="View"
            value={view}
            onChange={setView}
            data={[
              { value: 'now', label: artifact.run_version === null ? 'Current' : `v${artifact.run_version}` },
              { value: 'changes', label: `Changes since v${previousRun?.version}` },
            ]}
          />
        ) : (
          <span className={styles.note}>
            SHA-256 <code>{shortDigest(artifact.checksum)}</code>
          </span>
        )}
        <Tooltip label={`Download ${fileName(artifact)}`}>
          <ActionIcon
            component="a"
            href={downloadUrl(artifact)}
            download
            aria-label={`Download ${fileName(artifact)}`}
          >
            <IconDownload size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={styles.preview}>
        {isCompared && view === 'changes' ? (
          <Suspense fallback={<LoadingText />}>
            <ArtifactDiff before={previous} after={artifact} />
          </Suspense>
        ) : (
          <ArtifactPreview key={artifact.artifact_record_id} artifact={artifact} />
        )}
      </div>
    </div>
  )
}
