import { IconArchive, IconCheck, IconPlayerPlay, IconPlayerStop, IconUserX } from '@tabler/icons-react'
import type { RollbackPreview } from '~/api/types'
import { count, size } from '~/lib/formatting'
import { Effect } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { archivedWords, thenWords } from './rollbackText'

/** What the server says will happen. */
export function Consequences({
  preview,
  target,
}: {
  preview: RollbackPreview | undefined
  target: number | null
}) {
  if (preview === undefined) return <LoadingText lines={6} />
  const { archived_artifacts: files } = preview.rolled_back_items
  return (
    <>
      <dl className={styles.effects}>
        <Effect icon={<IconCheck size={17} color="var(--green)" />} name="Kept">
          {count(preview.kept.checkpoints, 'checkpoint')} and {count(preview.kept.artifacts, 'artifact')}
        </Effect>
        <Effect icon={<IconArchive size={17} />} name="Archived, not deleted">
          {archivedWords(preview)}
        </Effect>
        {preview.stopped.length > 0 && (
          <Effect icon={<IconPlayerStop size={17} />} name="Stopped">
            {preview.stopped.map((item) => item.checkpoint_name).join(', ')}
          </Effect>
        )}
        {preview.withdrawn_approvals.length > 0 && (
          <Effect icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {count(preview.withdrawn_approvals.length, 'open question')}:{' '}
            {preview.withdrawn_approvals.map((item) => item.checkpoint_name).join(', ')}
          </Effect>
        )}
        <Effect icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Then">
          {thenWords(preview.then, target)}
        </Effect>
      </dl>
      {preview.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      {files.length > 0 && (
        <details className={styles.files}>
          <summary>{count(files.length, 'file')} to be moved</summary>
          <ul>
            {files.map((file) => (
              <li key={file.artifact_record_id}>
                <code>{file.original_path ?? file.artifact_name}</code> {size(file.size_bytes)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
