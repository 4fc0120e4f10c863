import { IconArchive, IconCheck, IconPlayerPlay, IconPlayerStop, IconUserX } from '@tabler/icons-react'
import type { RollbackPreview } from '~/api/types'
import { formatBytes, pluralize } from '~/lib/formatting'
import { ImpactItem } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { archivedText, nextStepText } from './rollbackText'

/** The impact of a rollback, as computed by the server. */
export function RollbackImpact({
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
      <dl className={styles.impactItems}>
        <ImpactItem icon={<IconCheck size={17} color="var(--green)" />} name="Kept">
          {pluralize(preview.unaffected.checkpoints, 'checkpoint')} and{' '}
          {pluralize(preview.unaffected.artifacts, 'artifact')}
        </ImpactItem>
        <ImpactItem icon={<IconArchive size={17} />} name="Archived, not deleted">
          {archivedText(preview)}
        </ImpactItem>
        {preview.stopped_executions.length > 0 && (
          <ImpactItem icon={<IconPlayerStop size={17} />} name="Stopped">
            {preview.stopped_executions.map((item) => item.checkpoint_name).join(', ')}
          </ImpactItem>
        )}
        {preview.withdrawn_approvals.length > 0 && (
          <ImpactItem icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {pluralize(preview.withdrawn_approvals.length, 'pending approval')}:{' '}
            {preview.withdrawn_approvals.map((item) => item.checkpoint_name).join(', ')}
          </ImpactItem>
        )}
        <ImpactItem icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Next step">
          {nextStepText(preview.resumes_with, target)}
        </ImpactItem>
      </dl>
      {preview.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      {files.length > 0 && (
        <details className={styles.files}>
          <summary>{pluralize(files.length, 'file')} will be moved</summary>
          <ul>
            {files.map((file) => (
              <li key={file.artifact_record_id}>
                <code>{file.original_path ?? file.artifact_name}</code> {formatBytes(file.size_bytes)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
