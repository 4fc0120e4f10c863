import type { ApprovalDetail } from '~/api/types'
import { outcomeWords } from '~/lib/actions'
import { Done, Notice } from '~/ui/Notice'
import styles from './ActionDetails.module.css'

/** What came of an action, once it is approved. */
export function Outcome({ approval }: { approval: ApprovalDetail }) {
  const { action, status } = approval
  const agreed = status === 'approved' || status === 'auto_approved'
  if (action === null || !agreed) return null
  const words = outcomeWords(action, action.is_carried_out)
  if (words === null) return null
  return (
    <div className={styles.outcome}>
      {words.tone === 'green' ? (
        <Done>
          {words.title} {words.detail}
        </Done>
      ) : (
        <Notice tone={words.tone === 'blue' ? 'grey' : words.tone} title={words.title}>
          {words.detail !== '' && words.detail}
        </Notice>
      )}
    </div>
  )
}
