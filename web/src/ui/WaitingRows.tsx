import { Button } from '@mantine/core'
import { IconAlertTriangle, IconClock, IconFileCheck, IconForms, IconPlayerPlay } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Approval, RunSummary } from '~/api/types'
import { left } from '~/lib/durations'
import { question } from '~/lib/states'
import { Time, useNow } from './Time'
import styles from './WaitingRows.module.css'

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
  /** How many of several approvals are given. */
  votes: string | null
}

const version = (run: number | null) => (run === null ? 'test' : `v${run}`)

export function ofApproval(approval: Approval): Waiting {
  return {
    id: approval.approval_id,
    kind: approval.kind,
    title: question(approval),
    where: `${approval.pipeline_name} ${version(approval.run_version)} · checkpoint ${approval.checkpoint_position + 1}`,
    runId: approval.run_id,
    checkpointId: approval.checkpoint_id,
    since: approval.asked_at,
    deadline: approval.expires_at,
    votes: approval.needed > 1 ? `${approval.given} of ${approval.needed} given` : null,
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
      votes: null,
    }))
}

const ICONS: Partial<Record<Waiting['kind'], typeof IconForms>> = {
  input: IconForms,
  start: IconPlayerPlay,
  'by hand': IconPlayerPlay,
  escalation: IconAlertTriangle,
}
const BUTTONS: Partial<Record<Waiting['kind'], string>> = { input: 'Fill in', 'by hand': 'Open' }

/** What waits, one row each; the first has the filled button. */
export function WaitingRows({ items }: { items: readonly Waiting[] }) {
  return (
    <ul>
      {items.map((item, index) => (
        <Row key={item.id} item={item} first={index === 0} />
      ))}
    </ul>
  )
}

function Row({ item, first }: { item: Waiting; first: boolean }) {
  const now = useNow()
  const Icon = ICONS[item.kind] ?? IconFileCheck
  const deadline = left(item.deadline, now)
  const label = BUTTONS[item.kind] ?? 'Review'
  const link = {
    to: '/runs/$runId',
    params: { runId: item.runId },
    search: { checkpoint: item.checkpointId },
  } as const
  return (
    <li className={styles.row}>
      <span className={styles.icon} aria-hidden="true">
        <Icon size={18} stroke={1.6} />
      </span>
      <div className={styles.what}>
        <Link {...link} className={styles.title}>
          {item.title}
        </Link>
        <span className={styles.where}>{item.where}</span>
      </div>
      <div className={styles.when}>
        {deadline === null ? (
          <span>
            {item.kind === 'by hand' ? 'ready' : 'asked'} <Time at={item.since} />
          </span>
        ) : (
          <span className={styles.deadline}>
            <IconClock size={15} aria-hidden="true" /> {deadline}
          </span>
        )}
        {item.votes !== null && <span>{item.votes}</span>}
      </div>
      <Button
        className={styles.button}
        variant={first ? 'filled' : 'default'}
        renderRoot={(props) => <Link {...link} {...props} aria-label={`${label}: ${item.title}`} />}
      >
        {label}
      </Button>
    </li>
  )
}
