import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { run as runQuery } from '~/api/queries'
import type { RunSummary } from '~/api/types'
import { dotsOfCounts } from '~/lib/checkpointDots'
import { CheckpointDots } from '~/ui/CheckpointDots'
import { Panel, Section } from '~/ui/Page'
import { StateIcon } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './Home.module.css'

/** Recently failed runs with their errors. */
export function FailedRuns({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <Section title="Failed runs" count={runs.length}>
      <Panel>
        <ul>
          {runs.map((run) => (
            <FailedRun key={run.run_id} run={run} />
          ))}
        </ul>
      </Panel>
    </Section>
  )
}

function FailedRun({ run }: { run: RunSummary }) {
  const { data } = useQuery(runQuery(run.run_id))
  const failed = data?.checkpoints.find((item) => item.status === 'failed')
  return (
    <li className={styles.failed}>
      <span className={styles.name}>
        <StateIcon state={{ tone: 'red', icon: 'failed', label: 'Failed' }} />
        {run.pipeline_name}{' '}
        <span className={styles.version}>{run.run_version === null ? 'test' : `v${run.run_version}`}</span>
      </span>
      <CheckpointDots dots={dotsOfCounts(run)} />
      <span className={styles.cause}>
        {failed !== undefined && (
          <>
            <strong>{failed.name}:</strong> {failed.error_message}
          </>
        )}
      </span>
      <span className={styles.time}>
        <Time at={run.completed_at ?? run.created_at} />
      </span>
      <Button
        renderRoot={(props) => (
          <Link
            to="/runs/$runId"
            params={{ runId: run.run_id }}
            search={{ checkpoint: failed?.checkpoint_id }}
            {...props}
            aria-label={`View failure: ${run.pipeline_name} v${run.run_version}`}
          />
        )}
      >
        View failure
      </Button>
    </li>
  )
}
