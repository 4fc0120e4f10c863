import { Button } from '@mantine/core'
import { IconAlertTriangle, IconClock, IconFileCheck, IconForms, IconPlayerPlay } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Approval } from '~/api/types'
import { left } from '~/lib/durations'
import { question } from '~/lib/states'
import styles from './ApprovalRows.module.css'
import { Time, useNow } from './Time'

const ICONS: Partial<Record<Approval['kind'], typeof IconForms>> = {
  input: IconForms,
  start: IconPlayerPlay,
  escalation: IconAlertTriangle,
}

/** What waits, one row each; the first has the filled button. */
export function ApprovalRows({ approvals }: { approvals: readonly Approval[] }) {
  return (
    <ul>
      {approvals.map((approval, index) => (
        <ApprovalRow key={approval.approval_id} approval={approval} first={index === 0} />
      ))}
    </ul>
  )
}

function ApprovalRow({ approval, first }: { approval: Approval; first: boolean }) {
  const now = useNow()
  const Icon = ICONS[approval.kind] ?? IconFileCheck
  const deadline = left(approval.expires_at, now)
  const link = {
    to: '/runs/$runId',
    params: { runId: approval.run_id },
    search: { checkpoint: approval.checkpoint_id },
  } as const
  return (
    <li className={styles.row}>
      <span className={styles.icon} aria-hidden="true">
        <Icon size={18} stroke={1.6} />
      </span>
      <div className={styles.what}>
        <Link {...link} className={styles.title}>
          {question(approval)}
        </Link>
        <span className={styles.where}>
          {approval.pipeline_name} {approval.run_version === null ? 'test' : `v${approval.run_version}`} ·
          checkpoint {approval.checkpoint_position + 1}
        </span>
      </div>
      <div className={styles.when}>
        {deadline === null ? (
          <span>
            asked <Time at={approval.asked_at} />
          </span>
        ) : (
          <span className={styles.deadline}>
            <IconClock size={15} aria-hidden="true" /> {deadline}
          </span>
        )}
        {approval.needed > 1 && (
          <span>
            {approval.given} of {approval.needed} given
          </span>
        )}
      </div>
      <Button
        className={styles.button}
        variant={first ? 'filled' : 'default'}
        renderRoot={(props) => (
          <Link
            {...link}
            {...props}
            aria-label={`${approval.kind === 'input' ? 'Fill in' : 'Review'}: ${question(approval)}`}
          />
        )}
      >
        {approval.kind === 'input' ? 'Fill in' : 'Review'}
      </Button>
    </li>
  )
}
