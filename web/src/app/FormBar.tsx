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
  /** The form is on the page; its button can send it. */
  shown: boolean
  onShow: () => void
}

/** The bar below a form: it says what is asked, and its button sends the form. */
export function FormBar({ item, approval, paused, allowed, sending, shown, onShow }: Props) {
  const now = useNow()
  const facts = [
    item !== undefined && item.revision_iteration > 0 && `revision ${item.revision_iteration}`,
    timeLeft(approval?.expires_at ?? null, now),
    paused && 'the run is paused: your answers are stored, the next checkpoint waits',
    !allowed && 'your role may look, not answer',
  ].filter((fact): fact is string => typeof fact === 'string')
  return (
    <BottomBar
      state={{ tone: 'ochre', icon: 'form', label: '' }}
      title={`Fill in ${item?.name ?? 'the form'}`}
      detail={facts.length > 0 ? facts.join(' · ') : 'What you type is kept in this tab until you send it.'}
      actions={
        !allowed ? undefined : shown ? (
          <Button type="submit" form={FORM_ID} variant="filled" size="md" loading={sending}>
            Send answers
          </Button>
        ) : (
          <Button size="md" onClick={onShow}>
            Show the form
          </Button>
        )
      }
    />
  )
}
