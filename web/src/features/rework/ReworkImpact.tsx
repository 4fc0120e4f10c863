import {
  IconAlertTriangle,
  IconFolderOpen,
  IconPlayerPlay,
  IconReplace,
  IconUserX,
} from '@tabler/icons-react'
import type { ReworkPreview } from '~/api/types'
import { formatBytes, pluralize } from '~/lib/formatting'
import { ImpactItem } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { LoadingText } from '~/ui/Loading'
import { nextStepText, replacedText, staleText } from './reworkText'

/** The impact of a rework, as computed by the server. */
export function ReworkImpact({ preview }: { preview: ReworkPreview | undefined }) {
  if (preview === undefined) return <LoadingText lines={6} />
  return (
    <>
      <dl className={styles.impactItems}>
        <ImpactItem icon={<IconReplace size={17} />} name="Replaced, not deleted">
          {replacedText(preview)}
        </ImpactItem>
        {preview.stale_executions.length > 0 && (
          <ImpactItem icon={<IconAlertTriangle size={17} color="var(--ochre)" />} name="Becomes stale">
            {staleText(preview)}
          </ImpactItem>
        )}
        {preview.withdrawn_approvals.length > 0 && (
          <ImpactItem icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {pluralize(preview.withdrawn_approvals.length, 'pending approval')}:{' '}
            {preview.withdrawn_approvals.map((item) => item.checkpoint_name).join(', ')}
          </ImpactItem>
        )}
        {preview.reopens_run && (
          <ImpactItem icon={<IconFolderOpen size={17} color="var(--blue)" />} name="Reopened">
            The run is in progress again until the rework is done.
          </ImpactItem>
        )}
        <ImpactItem icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Next step">
          {nextStepText(preview)}
        </ImpactItem>
      </dl>
      {preview.replaced.length > 0 && (
        <details className={styles.files}>
          <summary>{pluralize(preview.replaced.length, 'file')} will be replaced</summary>
          <ul>
            {preview.replaced.map((file) => (
              <li key={file.artifact_record_id}>
                <code>{file.file_path}</code> {formatBytes(file.size_bytes)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
