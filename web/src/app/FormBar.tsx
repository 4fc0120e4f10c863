import { Button } from '@mantine/core'
import type { Approval, RunCheckpoint } from '~/api/types'
import { FORM_ID } from '~/features/approvals/ExecutionForm'
import { timeLeft } from '~/lib/durations'
import { BottomBar } from '~/ui/BottomBar'
import { useNow } from '~/ui/Time'

type Props = {
  item: RunCheckpoint | undefined
  approval: Approval | null
  paused: boolean
  allowed: boolean
  sending: boolean
  /** Whether the form is visible, so that the button can submit it. */
  shown: boolean
  onShow: () => void
}

/** The bottom bar of a form, with its submit button. */
export function FormBar({ item, approval, paused, allowed, sending, shown, onShow }: Props) {
  const now = useNow()
  const facts = [
    item !== undefined && item.revision_iteration > 0 && `revision ${item.revision_iteration}`,
    timeLeft(approval?.expires_at ?? null, now),
    paused &&
      'the run is paused: you can submit the form, but the next checkpoint starts only after you resume',
    !allowed && "your role can't submit forms",
  ].filter((fact): fact is string => typeof fact === 'string')
  return (
    <BottomBar
      state={{ tone: 'ochre', icon: 'form', label: '' }}
      title={item === undefined ? 'Complete form' : `Complete form: ${item.name}`}
      detail={
        facts.length > 0 ? facts.join(' · ') : 'Your answers are saved in this tab until you submit them.'
      }
      actions={
        !allowed ? undefined : shown ? (
          <Button type="submit" form={FORM_ID} variant="filled" size="md" loading={sending}>
            Submit form
          </Button>
        ) : (
          <Button size="md" onClick={onShow}>
            View form
          </Button>
        )
      }
    />
  )
}
