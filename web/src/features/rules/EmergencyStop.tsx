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

/** Stops all automatic approvals with one click, because the safe choice must be quick. */
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
          <ProblemNotice title="Couldn't stop automatic approvals." error={stop.error} />
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

/** Shown on every page during an emergency stop. */
export function EmergencyStopBanner() {
  const { data } = useQuery({ ...emergencyStop(), refetchInterval: 30_000 })
  const isAdmin = useRoles().includes('admin')
  const [lifting, setLifting] = useState(false)
  const [editingReason, setEditingReason] = useState(false)
  if (data?.stopped !== true) return null
  const hasNoReason = data.reason === '' || data.reason === DEFAULT_REASON
  return (
    <section className={styles.banner} aria-label="Emergency stop">
      <IconHandStop size={18} aria-hidden="true" />
      <p className={styles.message} role="status">
        <strong>All automatic approvals are stopped.</strong> People decide instead.{' '}
        <span>
          {data.by !== null && `${data.by}, `}
          {data.at !== null && <Time at={data.at} />}
          {!hasNoReason && `: ${data.reason}`}
        </span>
      </p>
      {isAdmin && (
        <>
          <Button variant="subtle" onClick={() => setEditingReason(true)}>
            {hasNoReason ? 'Add reason…' : 'Edit reason…'}
          </Button>
          <Button onClick={() => setLifting(true)}>Lift emergency stop…</Button>
          {editingReason && (
            <ReasonDialog reason={hasNoReason ? '' : data.reason} onClose={() => setEditingReason(false)} />
          )}
        </>
      )}
      <LiftDialog opened={lifting} onClose={() => setLifting(false)} />
    </section>
  )
}

/** Adds a reason afterwards, because stopping takes only one click. */
function ReasonDialog({ reason: savedReason, onClose }: { reason: string; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState(savedReason)
  const trimmedReason = reason.trim()
  return (
    <FormDialog
      title="Reason for the emergency stop"
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save reason"
      errorTitle="Couldn't save the reason."
      disabled={trimmedReason === '' || trimmedReason === savedReason}
      note="Automatic approvals stay stopped. Both reasons are recorded in the events."
      onSubmit={async () => {
        client.setQueryData(emergencyStop().queryKey, await setEmergencyStop(true, trimmedReason))
        void client.invalidateQueries({ queryKey: ['rules'] })
        onClose()
      }}
    >
      <TextInput
        label="Reason"
        data-autofocus
        value={reason}
        maxLength={2000}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function LiftDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title="Lift the emergency stop?"
      opened={opened}
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Lift emergency stop"
      errorTitle="Couldn't lift the emergency stop."
      note="Pending approvals stay pending."
      onSubmit={async () => {
        client.setQueryData(emergencyStop().queryKey, await setEmergencyStop(false, reason.trim()))
        void client.invalidateQueries({ queryKey: ['rules'] })
        setReason('')
        onClose()
      }}
    >
      <p>Active rules will approve matching requests automatically again.</p>
      <TextInput
        label="Findings (optional)"
        data-autofocus
        value={reason}
        maxLength={2000}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
