import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { repairData } from '~/api/commands'
import { healthReport } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { HealthCheck, HealthReport } from '~/api/types'
import type { State } from '~/lib/states'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './HealthPage.module.css'

const VERDICT_STATES: Record<HealthCheck['verdict'], State> = {
  ok: { tone: 'green', icon: 'completed', label: 'Well' },
  repaired: { tone: 'green', icon: 'completed', label: 'Repaired' },
  warning: { tone: 'grey', icon: 'alert', label: 'Warning' },
  fault: { tone: 'red', icon: 'failed', label: 'Fault' },
}
const ORDER = ['fault', 'warning', 'repaired', 'ok']

/** How the server, its data and its machine do: what `cairn doctor` says, for admins. */
export function HealthPage() {
  const isAdmin = useRoles().includes('admin')
  return (
    <Page title="Health">
      {isAdmin ? (
        <HealthReportView />
      ) : (
        <EmptyState title="For admins">Ask an admin how the server does.</EmptyState>
      )}
    </Page>
  )
}

function HealthReportView() {
  const client = useQueryClient()
  const { data, error, refetch, isFetching } = useQuery(healthReport())
  const repair = useMutation({
    mutationFn: repairData,
    onSuccess: (finding) => client.setQueryData(healthReport().queryKey, finding),
  })
  if (error !== null)
    return <LoadError title="The server could not be looked at." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={8} label="Looking at everything" />
  return (
    <>
      <div className={styles.head}>
        <h1>{reportTitle(data)}</h1>
        <p className={styles.checkedAt}>
          Checked <Time at={data.checked_at} />
        </p>
        <div className={styles.actions}>
          <Button loading={isFetching} onClick={() => void refetch()}>
            Look again
          </Button>
          <Button
            variant={data.well ? 'default' : 'filled'}
            loading={repair.isPending}
            onClick={() => repair.mutate()}
          >
            Repair
          </Button>
        </div>
      </div>
      {repair.error !== null && <ProblemNotice title="Nothing was repaired." error={repair.error} />}
      <div className={styles.list}>
        <Panel>
          <ul aria-label="What was looked at">
            {sortFindings(data.findings).map((finding) => (
              <Finding key={`${finding.what}${finding.detail}`} finding={finding} />
            ))}
          </ul>
        </Panel>
      </div>
      <p className={styles.note}>
        Repairing writes missing files again, takes rights of others away and removes contents that nothing
        refers to. Your own files are moved aside, never deleted.
      </p>
    </>
  )
}

function Finding({ finding }: { finding: HealthCheck }) {
  return (
    <li className={styles.finding}>
      <span className={styles.status}>
        <StateTag state={VERDICT_STATES[finding.verdict]} />
      </span>
      <span className={styles.check}>{finding.what}</span>
      <span className={styles.detail}>
        {finding.detail}
        {finding.remedy !== '' && <span className={styles.remedy}>{finding.remedy}</span>}
      </span>
    </li>
  )
}

/** The title is the answer. */
function reportTitle({ findings }: HealthReport): string {
  const errorCount = findings.filter((finding) => finding.verdict === 'fault').length
  const warningCount = findings.filter((finding) => finding.verdict === 'warning').length
  if (errorCount > 0) return errorCount === 1 ? 'One thing is at fault' : `${errorCount} things are at fault`
  if (warningCount > 0)
    return warningCount === 1 ? 'All is well, with one warning' : `All is well, with ${warningCount} warnings`
  return 'All is well'
}

function sortFindings(findings: HealthCheck[]): HealthCheck[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))
}
