import { ActionIcon, Tooltip, UnstyledButton } from '@mantine/core'
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
import type { Artifact } from '~/api/types'
import { downloadAddress, fileName } from '~/lib/files'
import { shortDigest, size } from '~/lib/sizes'
import styles from './Artifacts.module.css'
import { Preview } from './Preview'

const ICONS: Record<string, typeof IconFile> = {
  json: IconBraces,
  md: IconMarkdown,
  txt: IconFileText,
  csv: IconTable,
  html: IconFileCode,
  mmd: IconSchema,
  py: IconFileCode,
}

type Props = {
  artifacts: readonly Artifact[]
  /** The record that is looked at; the first one otherwise. */
  chosen: string | undefined
  onChoose: (recordId: string) => void
  /** Why there are none, in words. */
  none: string
}

/** The files of one execution, with a look into one of them. */
export function Artifacts({ artifacts, chosen, onChoose, none }: Props) {
  const artifact = artifacts.find((item) => item.artifact_record_id === chosen) ?? artifacts[0]
  if (artifact === undefined) return <p className={styles.none}>{none}</p>
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
                {item.stale && <span className={styles.note}>stale</span>}
                <span className={styles.size}>{size(item.size_bytes)}</span>
              </UnstyledButton>
            </li>
          )
        })}
      </ul>
      <div className={styles.tools}>
        <span className={styles.note}>
          SHA-256 <code>{shortDigest(artifact.checksum)}</code>
        </span>
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
        <Preview key={artifact.artifact_record_id} artifact={artifact} />
      </div>
    </div>
  )
}
