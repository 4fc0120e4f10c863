import type { ApprovalDetail } from '~/api/types'
import { outcomeText } from '~/lib/actions'
import { Notice, SuccessNote } from '~/ui/Notice'
import styles from './ActionDetails.module.css'

/** The outcome of an approved action. */
export function ActionOutcome({ approval }: { approval: ApprovalDetail }) {
  const { action, status } = approval
  const isApproved = status === 'approved' || status === 'auto_approved'
  if (action === null || !(isApproved || approval.kind === 'outcome')) return null
  const outcome = outcomeText(action)
  if (outcome === null) return null
  return (
    <div className={styles.outcome}>
      {outcome.tone === 'green' ? (
        <SuccessNote>
          {outcome.title} {outcome.detail}
        </SuccessNote>
      ) : (
        <Notice tone={outcome.tone === 'blue' ? 'grey' : outcome.tone} title={outcome.title}>
          {outcome.detail !== '' && outcome.detail}
        </Notice>
      )}
    </div>
  )
}
