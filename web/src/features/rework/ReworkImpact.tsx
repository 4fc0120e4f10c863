import {
  IconAlertTriangle,
  IconFolderOpen,
  IconPlayerPlay,
  IconReplace,
  IconUserX,
} from '@tabler/icons-react'
import type { ReworkPreview } from '~/api/types'
import { count, size } from '~/lib/formatting'
import { Effect } from '~/ui/ImpactPreview'
import styles from '~/ui/ImpactPreview.module.css'
import { LoadingText } from '~/ui/Loading'
import { replacedWords, staleWords, thenWords } from './reworkText'

/** What the server says a rework will do. */
export function Impact({ preview }: { preview: ReworkPreview | undefined }) {
  if (preview === undefined) return <LoadingText lines={6} />
  return (
    <>
      <dl className={styles.effects}>
        <Effect icon={<IconReplace size={17} />} name="Replaced, not deleted">
          {replacedWords(preview)}
        </Effect>
        {preview.becomes_stale.length > 0 && (
          <Effect icon={<IconAlertTriangle size={17} color="var(--ochre)" />} name="Becomes stale">
            {staleWords(preview)}
          </Effect>
        )}
        {preview.withdrawn_approvals.length > 0 && (
          <Effect icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {count(preview.withdrawn_approvals.length, 'open question')}:{' '}
            {preview.withdrawn_approvals.map((item) => item.checkpoint_name).join(', ')}
          </Effect>
        )}
        {preview.reopens && (
          <Effect icon={<IconFolderOpen size={17} color="var(--blue)" />} name="Reopened">
            The run is in progress again until this is done.
          </Effect>
        )}
        <Effect icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Then">
          {thenWords(preview)}
        </Effect>
      </dl>
      {preview.replaced.length > 0 && (
        <details className={styles.files}>
          <summary>{count(preview.replaced.length, 'file')} to be replaced</summary>
          <ul>
            {preview.replaced.map((file) => (
              <li key={file.artifact_record_id}>
                <code>{file.file_path}</code> {size(file.size_bytes)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
