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

const STATUS_STATES: Record<HealthCheck['status'], State> = {
  ok: { tone: 'green', icon: 'completed', label: 'OK' },
  repaired: { tone: 'green', icon: 'completed', label: 'Repaired' },
  warning: { tone: 'grey', icon: 'alert', label: 'Warning' },
  error: { tone: 'red', icon: 'failed', label: 'Error' },
}
const ORDER = ['error', 'warning', 'repaired', 'ok']

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
    onSuccess: (report) => client.setQueryData(healthReport().queryKey, report),
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
            variant={data.healthy ? 'default' : 'filled'}
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
            {sortChecks(data.checks).map((check) => (
              <Check key={`${check.name}${check.detail}`} check={check} />
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

function Check({ check }: { check: HealthCheck }) {
  return (
    <li className={styles.item}>
      <span className={styles.status}>
        <StateTag state={STATUS_STATES[check.status]} />
      </span>
      <span className={styles.check}>{check.name}</span>
      <span className={styles.detail}>
        {check.detail}
        {check.hint !== '' && <span className={styles.hint}>{check.hint}</span>}
      </span>
    </li>
  )
}

/** The heading summarizes the result. */
function reportTitle({ checks }: HealthReport): string {
  const errorCount = checks.filter((check) => check.status === 'error').length
  const warningCount = checks.filter((check) => check.status === 'warning').length
  const warnings = warningCount > 0 ? pluralize(warningCount, 'warning') : null
  if (errorCount > 0) return [pluralize(errorCount, 'error'), warnings].filter(Boolean).join(', ')
  return warnings === null ? 'No problems found' : `${warnings}, no errors`
}

function sortChecks(checks: HealthCheck[]): HealthCheck[] {
  return checks.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status))
}
