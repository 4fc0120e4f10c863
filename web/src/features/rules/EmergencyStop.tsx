import { Button, TextInput } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { emergencyStop, setEmergencyStop } from '~/api/rules'
import { useRoles } from '~/api/session'
import { FormDialog } from '~/ui/FormDialog'
import { Refusal } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './EmergencyStop.module.css'

const AT_ONCE = 'Stopped with one click'

/** Stops every automatic approval at once, without asking back: the safe way must be the short one. */
export function StopButton() {
  const client = useQueryClient()
  const { data } = useQuery(emergencyStop())
  const stop = useMutation({
    mutationFn: () => setEmergencyStop(true, AT_ONCE),
    onSuccess: (now) => client.setQueryData(emergencyStop().queryKey, now),
    onSettled: () => void client.invalidateQueries({ queryKey: ['rules'] }),
  })
  if (data?.stopped !== false) return null
  return (
    <>
      {stop.error !== null && (
        <div className={styles.refusal}>
          <Refusal title="Automatic approvals go on: they could not be stopped." error={stop.error} />
        </div>
      )}
      <Button
        className={styles.stop}
        leftSection={<IconHandStop size={16} />}
        loading={stop.isPending}
        onClick={() => stop.mutate()}
        aria-label="Stop all automatic approvals"
      >
        <span className={styles.long}>Stop all automatic approvals</span>
        <span className={styles.short}>Stop all</span>
      </Button>
    </>
  )
}

/** On every page while it is on: nothing is approved without people. */
export function StopBanner() {
  const { data } = useQuery({ ...emergencyStop(), refetchInterval: 30_000 })
  const isAdmin = useRoles().includes('admin')
  const [asking, setAsking] = useState(false)
  const [explaining, setExplaining] = useState(false)
  if (data?.stopped !== true) return null
  const isUnsaid = data.reason === '' || data.reason === AT_ONCE
  return (
    <section className={styles.banner} aria-label="Emergency stop">
      <IconHandStop size={18} aria-hidden="true" />
      <p className={styles.words} role="status">
        <strong>All automatic approvals are stopped.</strong> People are asked instead.{' '}
        <span className={styles.who}>
          {data.by !== null && `${data.by}, `}
          {data.at !== null && <Time at={data.at} />}
          {!isUnsaid && `: ${data.reason}`}
        </span>
      </p>
      {isAdmin && (
        <>
          <Button variant="subtle" onClick={() => setExplaining(true)}>
            {isUnsaid ? 'Say why…' : 'Change the reason…'}
          </Button>
          <Button onClick={() => setAsking(true)}>Let rules approve again…</Button>
          {explaining && (
            <ReasonDialog reason={isUnsaid ? '' : data.reason} onClose={() => setExplaining(false)} />
          )}
        </>
      )}
      <ResumeDialog opened={asking} onClose={() => setAsking(false)} />
    </section>
  )
}

/** Why everything is stopped, said afterwards: stopping was one click. */
function ReasonDialog({ reason: said, onClose }: { reason: string; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState(said)
  const wanted = reason.trim()
  return (
    <FormDialog
      title="Why is everything stopped?"
      opened
      onClose={onClose}
      keep="Leave it so"
      send="Keep this reason"
      refused="The reason is as before."
      disabled={wanted === '' || wanted === said}
      note="Everything stays stopped. The trail keeps both reasons."
      onSend={async () => {
        client.setQueryData(emergencyStop().queryKey, await setEmergencyStop(true, wanted))
        void client.invalidateQueries({ queryKey: ['rules'] })
        onClose()
      }}
    >
      <TextInput
        label="Why everything is stopped"
        data-autofocus
        value={reason}
        maxLength={2000}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function ResumeDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title="Let rules approve again?"
      opened={opened}
      onClose={onClose}
      keep="Stay stopped"
      send="Let rules approve again"
      refused="Everything stays stopped."
      note="What is asked of people now stays asked."
      onSend={async () => {
        client.setQueryData(emergencyStop().queryKey, await setEmergencyStop(false, reason.trim()))
        void client.invalidateQueries({ queryKey: ['rules'] })
        setReason('')
        onClose()
      }}
    >
      <p>From then on rules that are in force approve what they match, without people.</p>
      <TextInput
        label="What was found (optional)"
        data-autofocus
        value={reason}
        maxLength={2000}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
