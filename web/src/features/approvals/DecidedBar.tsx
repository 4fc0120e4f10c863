import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ApprovalDetail } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { approvalState } from '~/lib/states'
import { BottomBar } from '~/ui/BottomBar'
import { KeyHint } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { useNow } from '~/ui/Time'
import { unsentFeedback } from './FeedbackDialog'

/** Shown when the approval was closed by someone else or by its deadline. Unsent text is kept. */
export function AlreadyDecidedNotice({ approval, comment }: { approval: ApprovalDetail; comment: string }) {
  const last = approval.decisions.at(-1)
  const unsent = [comment, ...unsentFeedback(approval.execution_id)].filter((text) => text.trim() !== '')
  return (
    <Notice
      tone="ochre"
      title={
        last === undefined || approval.closed_at === null
          ? `This approval is closed: ${approvalState(approval).label.toLowerCase()}.`
          : `${last.by} already decided this approval. Your decision was not recorded.`
      }
    >
      {unsent.length > 0 && `Your unsent text: ${unsent.join(' · ')}`}
    </Notice>
  )
}

type BarProps = { approval: ApprovalDetail; next: string | null; notice: ReactNode }

/** The bottom bar of a closed approval. */
export function DecidedBar({ approval, next, notice }: BarProps) {
  const now = useNow()
  const state = approvalState(approval)
  const last = approval.decisions.at(-1)
  const by = approval.status === 'auto_approved' ? approval.rule : last?.by
  return (
    <BottomBar
      state={{ ...state, tone: state.tone === 'ochre' ? 'grey' : state.tone }}
      title={[state.label, by != null && `by ${by}`].filter(Boolean).join(' ')}
      detail={
        approval.closed_at === null
          ? 'No action needed.'
          : `${formatTime(approval.closed_at, now)}. No action needed.`
      }
      notice={notice || undefined}
      actions={
        <>
          <Button
            size="md"
            renderRoot={(props) => (
              <Link
                to="/runs/$runId"
                params={{ runId: approval.run_id }}
                search={{ checkpoint: approval.checkpoint_id }}
                {...props}
              />
            )}
          >
            View run
          </Button>
          {next !== null && (
            <Button
              size="md"
              variant="filled"
              renderRoot={(props) => (
                <Link to="/approvals/$approvalId" params={{ approvalId: next }} {...props} />
              )}
            >
              Next approval
              <KeyHint>J</KeyHint>
            </Button>
          )}
        </>
      }
    />
  )
}
