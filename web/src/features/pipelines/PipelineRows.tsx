import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoles } from '~/api/session'
import type { PipelineSummary } from '~/api/types'
import { type CheckpointDot, dotsOfCounts } from '~/lib/checkpointDots'
import { runState } from '~/lib/states'
import { CheckpointDots } from '~/ui/CheckpointDots'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './PipelinesPage.module.css'
import { RecentRuns } from './RecentRuns'
import { StartDialog } from './StartDialog'
import { useDeletePipeline } from './useDeletePipeline'

/** The rows of the pipeline list. */
export function PipelineRows({
  pipelines,
  canEdit,
}: {
  pipelines: readonly PipelineSummary[]
  canEdit: boolean
}) {
  const [starting, setStarting] = useState<PipelineSummary | null>(null)
  return (
    <>
      <div className={styles.headings} aria-hidden="true">
        <span>Pipeline</span>
        <span>Latest run</span>
        <span>Checkpoints</span>
        <span>Last 15 runs</span>
        <span>Activity</span>
        <span />
      </div>
      <ul>
        {pipelines.map((item) => (
          <PipelineRow
            key={item.pipeline_id}
            item={item}
            canEdit={canEdit}
            onStart={() => setStarting(item)}
          />
        ))}
      </ul>
      {starting !== null && (
        <StartDialog pipelineId={starting.pipeline_id} opened onClose={() => setStarting(null)} />
      )}
    </>
  )
}

function PipelineRow({
  item,
  canEdit,
  onStart,
}: {
  item: PipelineSummary
  canEdit: boolean
  onStart: () => void
}) {
  const roles = useRoles()
  const run = item.latest_run
  const deletion = useDeletePipeline(item)
  const dots: CheckpointDot[] = run === null ? Array(item.checkpoint_count).fill('open') : dotsOfCounts(run)
  return (
    <li className={styles.row}>
      <span className={styles.name}>
        <Link to="/pipelines/$pipelineId" params={{ pipelineId: item.pipeline_id }}>
          {item.pipeline_name}
        </Link>
        {item.pipeline_description && <span className={styles.description}>{item.pipeline_description}</span>}
      </span>
      <span className={styles.latest}>
        {run === null ? (
          <StateTag state={{ tone: 'grey', icon: 'dashed', label: 'No runs' }} />
        ) : (
          <>
            <StateTag state={runState(run, roles)} />
            <span className={styles.version}>
              {run.run_version === null ? 'test' : `v${run.run_version}`}
            </span>
          </>
        )}
      </span>
      <span className={styles.dots}>
        <CheckpointDots dots={dots} />
      </span>
      <span className={styles.bars}>
        <RecentRuns runs={item.recent_runs} />
      </span>
      <span className={styles.activity}>
        {run === null ? 'edited ' : ''}
        <Time at={run?.completed_at ?? run?.started_at ?? run?.created_at ?? item.updated_at} />
      </span>
      <span className={styles.actions}>
        {canEdit && item.deleted_at === null && (
          <>
            <ActionIcon aria-label={`Start ${item.pipeline_name}`} onClick={onStart}>
              <IconPlayerPlay size={17} stroke={1.6} />
            </ActionIcon>
            <Menu width={180}>
              <Menu.Target>
                <ActionIcon aria-label={`More actions for ${item.pipeline_name}`}>
                  <IconDots size={17} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<IconTrash size={16} />} data-danger onClick={deletion.deleteNow}>
                  Delete
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )}
        {canEdit && item.deleted_at !== null && (
          <Button loading={deletion.busy} onClick={deletion.restore}>
            Restore
          </Button>
        )}
      </span>
      {deletion.dialog}
    </li>
  )
}
