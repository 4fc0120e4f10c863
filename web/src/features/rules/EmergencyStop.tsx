import { Button, TextInput } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { emergencyStop, setEmergencyStop } from '~/api/rules'
import { useRoles } from '~/api/session'
import { FormDialog } from '~/ui/FormDialog'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './EmergencyStop.module.css'

const DEFAULT_REASON = 'Stopped with one click'

/** Stops every automatic approval at once, without asking back: the safe way must be the short one. */
export function EmergencyStopButton() {
  const client = useQueryClient()
  const { data } = useQuery(emergencyStop())
  const stop = useMutation({
    mutationFn: () => setEmergencyStop(true, DEFAULT_REASON),
    onSuccess: (now) => client.setQueryData(emergencyStop().queryKey, now),
    onSettled: () => void client.invalidateQueries({ queryKey: ['rules'] }),
  })
  if (data?.stopped !== false) return null
  return (
    <>
      {stop.error !== null && (
        <div className={styles.error}>
          <ProblemNotice title="Automatic approvals go on: they could not be stopped." error={stop.error} />
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
export function EmergencyStopBanner() {
  const { data } = useQuery({ ...emergencyStop(), refetchInterval: 30_000 })
  const isAdmin = useRoles().includes('admin')
  const [resuming, setResuming] = useState(false)
  const [editingReason, setEditingReason] = useState(false)
  if (data?.stopped !== true) return null
  const hasNoReason = data.reason === '' || data.reason === DEFAULT_REASON
  return (
    <section className={styles.banner} aria-label="Emergency stop">
      <IconHandStop size={18} aria-hidden="true" />
      <p className={styles.message} role="status">
        <strong>All automatic approvals are stopped.</strong> People are asked instead.{' '}
        <span className={styles.who}>
          {data.by !== null && `${data.by}, `}
          {data.at !== null && <Time at={data.at} />}
          {!hasNoReason && `: ${data.reason}`}
        </span>
      </p>
      {isAdmin && (
        <>
          <Button variant="subtle" onClick={() => setEditingReason(true)}>
            {hasNoReason ? 'Say why…' : 'Change the reason…'}
          </Button>
          <Button onClick={() => setResuming(true)}>Let rules approve again…</Button>
          {editingReason && (
            <ReasonDialog reason={hasNoReason ? '' : data.reason} onClose={() => setEditingReason(false)} />
          )}
        </>
      )}
      <ResumeDialog opened={resuming} onClose={() => setResuming(false)} />
    </section>
  )
}

/** Why everything is stopped, said afterwards: stopping was one click. */
function ReasonDialog({ reason: savedReason, onClose }: { reason: string; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState(savedReason)
  const trimmedReason = reason.trim()
  return (
    <FormDialog
      title="Why is everything stopped?"
      opened
      onClose={onClose}
      cancelLabel="Leave it so"
      submitLabel="Keep this reason"
      errorTitle="The reason is as before."
      disabled={trimmedReason === '' || trimmedReason === savedReason}
      note="Everything stays stopped. The trail keeps both reasons."
      onSubmit={async () => {
        client.setQueryData(emergencyStop().queryKey, await setEmergencyStop(true, trimmedReason))
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
      cancelLabel="Stay stopped"
      submitLabel="Let rules approve again"
      errorTitle="Everything stays stopped."
      note="What is asked of people now stays asked."
      onSubmit={async () => {
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
