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
import { useState } from 'react'
import { artifactsOf } from '~/api/queries'
import type { Artifact } from '~/api/types'
import { earlierOf, sinceWords } from '~/lib/artifactChanges'
import { downloadAddress, fileName } from '~/lib/files'
import { shortDigest, size } from '~/lib/formatting'
import { Compared } from './ArtifactDiff'
import { isReadable, MOST, Preview } from './ArtifactPreview'
import styles from './Artifacts.module.css'

const ICONS: Record<string, typeof IconFile> = {
  json: IconBraces,
  md: IconMarkdown,
  txt: IconFileText,
  csv: IconTable,
  html: IconFileCode,
  mmd: IconSchema,
  py: IconFileCode,
}

const isShown = (artifact: Artifact) => isReadable(artifact) && artifact.size_bytes <= MOST

type Props = {
  artifacts: readonly Artifact[]
  /** The record that is looked at; the first one otherwise. */
  chosen: string | undefined
  onChoose: (recordId: string) => void
  /** Why there are none, in words. */
  none: string
  /** The run whose version these extend, if there is one. */
  before?: { runId: string; version: number } | undefined
}

/** The files of one execution, with a look into one of them. */
export function Artifacts({ artifacts, chosen, onChoose, none, before }: Props) {
  const artifact = artifacts.find((item) => item.artifact_record_id === chosen) ?? artifacts[0]
  const [view, setView] = useState('now')
  const { data: earlier } = useQuery({
    ...artifactsOf(before?.runId ?? ''),
    enabled: before !== undefined && artifacts.length > 0,
  })
  if (artifact === undefined) return <p className={styles.none}>{none}</p>
  const old = earlierOf(artifact, earlier)
  const isCompared = old !== undefined && old.checksum !== artifact.checksum && [old, artifact].every(isShown)
  return (
    <div className={styles.pane}>
      <ul className={styles.list}>
        {artifacts.map((item) => {
          const Icon = ICONS[item.format] ?? (item.artifact_type === 'file' ? IconPaperclip : IconFile)
          return (
            <li key={item.artifact_record_id}>
              <UnstyledButton
                className={styles.row}
                aria-pressed={item === artifact}
                onClick={() => onChoose(item.artifact_record_id)}
              >
                <Icon size={16} stroke={1.6} aria-hidden="true" />
                <code className={styles.name}>{fileName(item)}</code>
                {item.promoted_to_permanent_at === null && <span className={styles.note}>staged</span>}
                {before !== undefined && earlier !== undefined && (
                  <span className={styles.note}>
                    {sinceWords(item, earlierOf(item, earlier), before.version)}
                  </span>
                )}
                {item.stale && <span className={styles.note}>stale</span>}
                <span className={styles.size}>{size(item.size_bytes)}</span>
              </UnstyledButton>
            </li>
          )
        })}
      </ul>
      <div className={styles.tools}>
        {isCompared ? (
          <SegmentedControl
            aria-label="What is shown"
            value={view}
            onChange={setView}
            data={[
              { value: 'now', label: artifact.run_version === null ? 'Now' : `v${artifact.run_version}` },
              { value: 'changes', label: `Changes since v${before?.version}` },
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
            href={downloadAddress(artifact)}
            download
            aria-label={`Download ${fileName(artifact)}`}
          >
            <IconDownload size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={styles.preview}>
        {isCompared && view === 'changes' ? (
          <Compared before={old} after={artifact} />
        ) : (
          <Preview key={artifact.artifact_record_id} artifact={artifact} />
        )}
      </div>
    </div>
  )
}
