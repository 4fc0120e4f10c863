import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ApprovalDetail } from '~/api/types'
import { clock } from '~/lib/durations'
import { approvalState } from '~/lib/states'
import { Bar } from '~/ui/BottomBar'
import { Kbd } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { useNow } from '~/ui/Time'
import { wordsOf } from './FeedbackDialog'

/** Somebody else, or the clock, was first: nothing that was written is lost. */
export function BeatenNotice({ approval, comment }: { approval: ApprovalDetail; comment: string }) {
  const last = approval.decisions.at(-1)
  const written = [comment, ...wordsOf(approval.execution_id)].filter((words) => words.trim() !== '')
  return (
    <Notice
      tone="ochre"
      title={
        last === undefined || approval.closed_at === null
          ? `This is over: ${approvalState(approval).word.toLowerCase()}.`
          : `${last.by} was first. You have decided nothing.`
      }
    >
      {written.length > 0 && `You had written: ${written.join(' · ')}`}
    </Notice>
  )
}

type BarProps = { approval: ApprovalDetail; next: string | null; notice: ReactNode }

/** The bar of an approval that is over: who decided, and the way on. */
export function DecidedBar({ approval, next, notice }: BarProps) {
  const now = useNow()
  const state = approvalState(approval)
  const last = approval.decisions.at(-1)
  const by = approval.status === 'auto_approved' ? approval.rule : last?.by
  return (
    <Bar
      state={{ ...state, tone: state.tone === 'ochre' ? 'grey' : state.tone }}
      title={[state.word, by != null && `by ${by}`].filter(Boolean).join(' ')}
      detail={
        approval.closed_at === null
          ? 'Nothing more to do here.'
          : `${clock(approval.closed_at, now)}. Nothing more to do here.`
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
            See the run
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
              <Kbd>J</Kbd>
            </Button>
          )}
        </>
      }
    />
  )
}
