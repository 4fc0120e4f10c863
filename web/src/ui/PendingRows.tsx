import { Button, Checkbox } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBolt,
  IconClock,
  IconFileCheck,
  IconForms,
  IconHelpCircle,
  IconMail,
  IconPlayerPlay,
} from '@tabler/icons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { Approval, RiskLevel, RunSummary } from '~/api/types'
import { timeLeft, timeoutText } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import styles from './PendingRows.module.css'
import { RiskTag } from './RiskTag'
import { Time, useNow } from './Time'

/** An approval or a manual start that waits for a person. */
export type PendingItem = {
  id: string
  kind: Approval['kind'] | 'manual start'
  title: string
  location: string
  runId: string
  checkpointId: string
  since: string
  deadline: string | null
  risk: RiskLevel | null
  /** How many of the required approvals were given. */
  voteCount: string | null
  /** Null for a manual start. */
  approval: Approval | null
}

const version = (run: number | null) => (run === null ? 'test' : `v${run}`)

export function approvalItem(approval: Approval): PendingItem {
  return {
    id: approval.approval_id,
    kind: approval.kind,
    title: approval.title,
    location: `${approval.pipeline_name} ${version(approval.run_version)} · checkpoint ${approval.checkpoint_position + 1}`,
    runId: approval.run_id,
    checkpointId: approval.checkpoint_id,
    since: approval.requested_at,
    deadline: approval.expires_at,
    risk: approval.risk_level,
    voteCount:
      approval.required_approvals > 1
        ? `${approval.received_approvals} of ${approval.required_approvals} approvals`
        : null,
    approval,
  }
}

/** Checkpoints that need no approval but a manual start. */
export function manualStartItems(run: RunSummary): PendingItem[] {
  if (run.pending_start_count === 0) return []
  return run.open_executions
    .filter((item) => item.status === 'pending')
    .map((item) => ({
      id: item.execution_id,
      kind: 'manual start',
      title: `Start ${item.checkpoint_name}`,
      location: `${run.pipeline_name} ${version(run.run_version)} · checkpoint ${item.checkpoint_position + 1}`,
      runId: run.run_id,
      checkpointId: item.checkpoint_id,
      since: item.created_at,
      deadline: null,
      risk: null,
      voteCount: null,
      approval: null,
    }))
}

const ICONS: Partial<Record<PendingItem['kind'], typeof IconForms>> = {
  action: IconBolt,
  outcome: IconHelpCircle,
  input: IconForms,
  start: IconPlayerPlay,
  'manual start': IconPlayerPlay,
  escalation: IconAlertTriangle,
}
const BUTTONS: Partial<Record<PendingItem['kind'], string>> = { input: 'Open form', 'manual start': 'Open' }

/** Forms and manual starts open on their run, everything else on the approval page. */
export function itemLink(item: PendingItem): Pick<LinkProps, 'to' | 'params' | 'search'> {
  return item.approval === null || item.kind === 'input'
    ? { to: '/runs/$runId', params: { runId: item.runId }, search: { checkpoint: item.checkpointId } }
    : { to: '/approvals/$approvalId', params: { approvalId: item.id } }
}

/** Rows that are selected for a batch decision. */
export type Selection = {
  selected: ReadonlySet<string>
  /** Whether a row can be added to the selection. */
  canSelect: (item: PendingItem) => boolean
  onSelect: (item: PendingItem, selected: boolean) => void
}

/** Pending items, one row each. The first row has the primary button. */
export function PendingRows({ items, selection }: { items: readonly PendingItem[]; selection?: Selection }) {
  return (
    <ul>
      {items.map((item, index) => (
        <Row key={item.id} item={item} isFirst={index === 0} selection={selection} />
      ))}
    </ul>
  )
}

type RowProps = { item: PendingItem; isFirst: boolean; selection: Selection | undefined }

function Row({ item, isFirst, selection }: RowProps) {
  const now = useNow()
  const { title, approval } = item
  const artifacts = item.kind === 'action' ? 0 : (approval?.artifact_count ?? 0)
  const Icon = approval?.operation_type === 'send_email' ? IconMail : (ICONS[item.kind] ?? IconFileCheck)
  const label = BUTTONS[item.kind] ?? 'Review'
  const link = itemLink(item)
  return (
    <li className={styles.row} data-id={item.id}>
      {selection !== undefined && (
        <Checkbox
          className={styles.select}
          size="sm"
          aria-label={`Select ${title}`}
          checked={selection.selected.has(item.id)}
          disabled={!selection.canSelect(item)}
          onChange={(event) => selection.onSelect(item, event.currentTarget.checked)}
        />
      )}
      <span className={styles.icon} aria-hidden="true">
        <Icon size={18} stroke={1.6} />
      </span>
      <div className={styles.item}>
        <Link {...link} className={styles.title} data-row-link>
          {title}
        </Link>
        <span className={styles.location}>{item.location}</span>
        {approval?.warning && (
          <span className={styles.warning}>
            <IconAlertTriangle size={15} aria-hidden="true" /> {approval.warning}
          </span>
        )}
      </div>
      <div className={styles.details}>
        {item.risk !== null && <RiskTag risk={item.risk} />}
        {artifacts > 0 && <span>{pluralize(artifacts, 'artifact')}</span>}
        {item.voteCount !== null && <span>{item.voteCount}</span>}
      </div>
      <div className={styles.deadlineInfo}>
        <When item={item} timeout={approval === null ? null : timeoutText(approval)} now={now} />
      </div>
      <Button
        className={styles.button}
        variant={isFirst ? 'filled' : 'default'}
        renderRoot={(props) => <Link {...link} {...props} aria-label={`${label}: ${title}`} />}
      >
        {label}
      </Button>
    </li>
  )
}

function When({ item, timeout, now }: { item: PendingItem; timeout: string | null; now: Date }) {
  const deadline = timeLeft(item.deadline, now)
  if (deadline === null) {
    return (
      <span>
        {item.kind === 'manual start' ? 'ready' : 'requested'} <Time at={item.since} />
      </span>
    )
  }
  return (
    <>
      <span className={styles.deadline}>
        <IconClock size={15} aria-hidden="true" /> {deadline}
      </span>
      {timeout !== null && <span>{timeout}</span>}
    </>
  )
}
