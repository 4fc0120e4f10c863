import { Button, Checkbox } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBolt,
  IconClock,
  IconFileCheck,
  IconForms,
  IconMail,
  IconPlayerPlay,
} from '@tabler/icons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { Approval, Risk, RunSummary } from '~/api/types'
import { left, thenWords } from '~/lib/durations'
import { count } from '~/lib/formatting'
import styles from './PendingRows.module.css'
import { RiskTag } from './RiskTag'
import { Time, useNow } from './Time'

/** One thing that waits for a person. */
export type Waiting = {
  id: string
  kind: Approval['kind'] | 'by hand'
  title: string
  where: string
  runId: string
  checkpointId: string
  since: string
  deadline: string | null
  risk: Risk | null
  /** How many of several approvals are given. */
  votes: string | null
  /** What is decided, where there is something to decide. */
  approval: Approval | null
}

const version = (run: number | null) => (run === null ? 'test' : `v${run}`)

export function ofApproval(approval: Approval): Waiting {
  return {
    id: approval.approval_id,
    kind: approval.kind,
    title: approval.title,
    where: `${approval.pipeline_name} ${version(approval.run_version)} · checkpoint ${approval.checkpoint_position + 1}`,
    runId: approval.run_id,
    checkpointId: approval.checkpoint_id,
    since: approval.asked_at,
    deadline: approval.expires_at,
    risk: approval.risk_level,
    votes: approval.needed > 1 ? `${approval.given} of ${approval.needed} given` : null,
    approval,
  }
}

/** Checkpoints that nobody has to approve, and that start only when somebody starts them. */
export function toStart(run: RunSummary): Waiting[] {
  if (run.to_start === 0) return []
  return run.open
    .filter((item) => item.status === 'pending')
    .map((item) => ({
      id: item.execution_id,
      kind: 'by hand',
      title: `Start ${item.checkpoint_name}`,
      where: `${run.pipeline_name} ${version(run.run_version)} · checkpoint ${item.checkpoint_position + 1}`,
      runId: run.run_id,
      checkpointId: item.checkpoint_id,
      since: item.created_at,
      deadline: null,
      risk: null,
      votes: null,
      approval: null,
    }))
}

const ICONS: Partial<Record<Waiting['kind'], typeof IconForms>> = {
  action: IconBolt,
  input: IconForms,
  start: IconPlayerPlay,
  'by hand': IconPlayerPlay,
  escalation: IconAlertTriangle,
}
const BUTTONS: Partial<Record<Waiting['kind'], string>> = { input: 'Fill in', 'by hand': 'Open' }

/** Where it is dealt with: forms and starts on their run, everything else on a page of its own. */
export function placeOf(item: Waiting): Pick<LinkProps, 'to' | 'params' | 'search'> {
  return item.approval === null || item.kind === 'input'
    ? { to: '/runs/$runId', params: { runId: item.runId }, search: { checkpoint: item.checkpointId } }
    : { to: '/approvals/$approvalId', params: { approvalId: item.id } }
}

/** Rows that are chosen for a decision on several. */
export type Choosing = {
  chosen: ReadonlySet<string>
  /** Whether a row can be chosen beside those that are. */
  mayChoose: (item: Waiting) => boolean
  onChoose: (item: Waiting, chosen: boolean) => void
}

/** What waits, one row each; the first has the filled button. */
export function WaitingRows({ items, choosing }: { items: readonly Waiting[]; choosing?: Choosing }) {
  return (
    <ul>
      {items.map((item, index) => (
        <Row key={item.id} item={item} first={index === 0} choosing={choosing} />
      ))}
    </ul>
  )
}

type RowProps = { item: Waiting; first: boolean; choosing: Choosing | undefined }

function Row({ item, first, choosing }: RowProps) {
  const now = useNow()
  const { title, approval } = item
  const artifacts = item.kind === 'action' ? 0 : (approval?.artifact_count ?? 0)
  const Icon = approval?.operation_type === 'send_email' ? IconMail : (ICONS[item.kind] ?? IconFileCheck)
  const label = BUTTONS[item.kind] ?? 'Review'
  const link = placeOf(item)
  return (
    <li className={styles.row} data-id={item.id}>
      {choosing !== undefined && (
        <Checkbox
          className={styles.choose}
          size="sm"
          aria-label={`Choose ${title}`}
          checked={choosing.chosen.has(item.id)}
          disabled={!choosing.mayChoose(item)}
          onChange={(event) => choosing.onChoose(item, event.currentTarget.checked)}
        />
      )}
      <span className={styles.icon} aria-hidden="true">
        <Icon size={18} stroke={1.6} />
      </span>
      <div className={styles.what}>
        <Link {...link} className={styles.title} data-row-link>
          {title}
        </Link>
        <span className={styles.where}>{item.where}</span>
        {approval?.warning && (
          <span className={styles.warning}>
            <IconAlertTriangle size={15} aria-hidden="true" /> {approval.warning}
          </span>
        )}
      </div>
      <div className={styles.facts}>
        {item.risk !== null && <RiskTag risk={item.risk} />}
        {artifacts > 0 && <span>{count(artifacts, 'artifact')}</span>}
        {item.votes !== null && <span>{item.votes}</span>}
      </div>
      <div className={styles.when}>
        <When item={item} then={approval === null ? null : thenWords(approval)} now={now} />
      </div>
      <Button
        className={styles.button}
        variant={first ? 'filled' : 'default'}
        renderRoot={(props) => <Link {...link} {...props} aria-label={`${label}: ${title}`} />}
      >
        {label}
      </Button>
    </li>
  )
}

function When({ item, then, now }: { item: Waiting; then: string | null; now: Date }) {
  const deadline = left(item.deadline, now)
  if (deadline === null) {
    return (
      <span>
        {item.kind === 'by hand' ? 'ready' : 'asked'} <Time at={item.since} />
      </span>
    )
  }
  return (
    <>
      <span className={styles.deadline}>
        <IconClock size={15} aria-hidden="true" /> {deadline}
      </span>
      {then !== null && <span>{then}</span>}
    </>
  )
}
