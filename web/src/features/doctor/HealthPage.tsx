import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { repairData } from '~/api/commands'
import { healthReport } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { HealthCheck, HealthReport } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import type { State } from '~/lib/states'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './HealthPage.module.css'

const VERDICT_STATES: Record<HealthCheck['verdict'], State> = {
  ok: { tone: 'green', icon: 'completed', label: 'OK' },
  repaired: { tone: 'green', icon: 'completed', label: 'Repaired' },
  warning: { tone: 'grey', icon: 'alert', label: 'Warning' },
  fault: { tone: 'red', icon: 'failed', label: 'Error' },
}
const ORDER = ['fault', 'warning', 'repaired', 'ok']

/** The result of `cairn doctor`, for admins. */
export function HealthPage() {
  const isAdmin = useRoles().includes('admin')
  return (
    <Page title="Health">
      {isAdmin ? (
        <HealthReportView />
      ) : (
        <EmptyState title="Admins only">You need the admin role to view this page.</EmptyState>
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
    return <LoadError title="Couldn't check the installation." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={8} label="Running checks" />
  return (
    <>
      <div className={styles.head}>
        <h1>{reportTitle(data)}</h1>
        <p className={styles.checkedAt}>
          Checked <Time at={data.checked_at} />
        </p>
        <div className={styles.actions}>
          <Button loading={isFetching} onClick={() => void refetch()}>
            Check again
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
      {repair.error !== null && (
        <ProblemNotice title="Couldn't repair the installation." error={repair.error} />
      )}
      <div className={styles.list}>
        <Panel>
          <ul aria-label="Checks">
            {sortFindings(data.findings).map((finding) => (
              <Finding key={`${finding.what}${finding.detail}`} finding={finding} />
            ))}
          </ul>
        </Panel>
      </div>
      <p className={styles.note}>
        Repair recreates missing files, restricts file permissions and deletes unreferenced content. Your own
        files are moved aside, never deleted.
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

/** The heading summarizes the result. */
function reportTitle({ findings }: HealthReport): string {
  const errorCount = findings.filter((finding) => finding.verdict === 'fault').length
  const warningCount = findings.filter((finding) => finding.verdict === 'warning').length
  const warnings = warningCount > 0 ? pluralize(warningCount, 'warning') : null
  if (errorCount > 0) return [pluralize(errorCount, 'error'), warnings].filter(Boolean).join(', ')
  return warnings === null ? 'No problems found' : `${warnings}, no errors`
}

function sortFindings(findings: HealthCheck[]): HealthCheck[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))
}
