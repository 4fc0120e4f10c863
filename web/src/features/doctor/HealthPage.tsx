import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { repairData } from '~/api/commands'
import { diagnosis } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { Diagnosis, HealthCheck } from '~/api/types'
import type { State } from '~/lib/states'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Page, Panel } from '~/ui/Page'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { StateTag } from '~/ui/StateTag'
import { Time } from '~/ui/Time'
import styles from './HealthPage.module.css'

const VERDICTS: Record<HealthCheck['verdict'], State> = {
  ok: { tone: 'green', sign: 'completed', word: 'Well' },
  repaired: { tone: 'green', sign: 'completed', word: 'Repaired' },
  warning: { tone: 'grey', sign: 'alert', word: 'Warning' },
  fault: { tone: 'red', sign: 'failed', word: 'Fault' },
}
const ORDER = ['fault', 'warning', 'repaired', 'ok']

/** How the server, its data and its machine do: what `cairn doctor` says, for admins. */
export function HealthPage() {
  const isAdmin = useRoles().includes('admin')
  return (
    <Page title="Health">
      {isAdmin ? <Findings /> : <Empty title="For admins">Ask an admin how the server does.</Empty>}
    </Page>
  )
}

function Findings() {
  const client = useQueryClient()
  const { data, error, refetch, isFetching } = useQuery(diagnosis())
  const repair = useMutation({
    mutationFn: repairData,
    onSuccess: (found) => client.setQueryData(diagnosis().queryKey, found),
  })
  if (error !== null)
    return <Failure what="The server could not be looked at." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={8} label="Looking at everything" />
  return (
    <>
      <div className={styles.head}>
        <h1>{answerOf(data)}</h1>
        <p className={styles.when}>
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
      {repair.error !== null && <Refusal title="Nothing was repaired." error={repair.error} />}
      <div className={styles.list}>
        <Panel>
          <ul aria-label="What was looked at">
            {inOrder(data.findings).map((found) => (
              <Finding key={`${found.what}${found.detail}`} found={found} />
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

function Finding({ found }: { found: HealthCheck }) {
  return (
    <li className={styles.finding}>
      <span className={styles.verdict}>
        <StateTag state={VERDICTS[found.verdict]} />
      </span>
      <span className={styles.what}>{found.what}</span>
      <span className={styles.detail}>
        {found.detail}
        {found.remedy !== '' && <span className={styles.remedy}>{found.remedy}</span>}
      </span>
    </li>
  )
}

/** The title is the answer. */
function answerOf({ findings }: Diagnosis): string {
  const faults = findings.filter((found) => found.verdict === 'fault').length
  const warnings = findings.filter((found) => found.verdict === 'warning').length
  if (faults > 0) return faults === 1 ? 'One thing is at fault' : `${faults} things are at fault`
  if (warnings > 0)
    return warnings === 1 ? 'All is well, with one warning' : `All is well, with ${warnings} warnings`
  return 'All is well'
}

function inOrder(findings: HealthCheck[]): HealthCheck[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))
}
