import { Button, Modal, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { people } from '~/api/approvals'
import { handOver } from '~/api/commands'
import type { Approval } from '~/api/types'
import { Actions } from '~/ui/DialogActions'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './ReassignDialog.module.css'

type Props = { approval: Pick<Approval, 'approval_id'>; opened: boolean; onClose: () => void }

/** Others decide instead. */
export function HandOver({ approval, opened, onClose }: Props) {
  const client = useQueryClient()
  const [to, setTo] = useState('')
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [missing, setMissing] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    const names = to
      .split(/[,;\n]+/)
      .map((name) => name.trim())
      .filter(Boolean)
    if (names.length === 0) {
      setMissing(true)
      return
    }
    setBusy(true)
    setError(null)
    try {
      await handOver(approval.approval_id, names, reason.trim())
      tell(`Handed over to ${names.join(', ')}.`)
      onClose()
    } catch (fault) {
      setError(fault)
    } finally {
      await client.invalidateQueries({ queryKey: ['approvals'] })
      setBusy(false)
    }
  }
  return (
    <Modal opened={opened} onClose={onClose} title="Hand this over">
      <form onSubmit={send}>
        {error !== null && <Refusal title="Not handed over." error={error} />}
        <TextInput
          label="To"
          description="Names, addresses, roles or groups, with commas between them."
          value={to}
          error={missing && 'Name somebody.'}
          onChange={(event) => {
            setTo(event.currentTarget.value)
            setMissing(false)
          }}
          autoComplete="off"
          data-autofocus
        />
        <Known onChoose={(name) => setTo([to.trim(), name].filter(Boolean).join(', '))} />
        <Textarea
          label="Reason (optional)"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          mt={12}
        />
        <Actions note="They decide instead of those who are asked now.">
          <Button onClick={onClose}>Keep it</Button>
          <Button type="submit" variant="filled" loading={busy}>
            Hand over
          </Button>
        </Actions>
      </form>
    </Modal>
  )
}

/** Most that are offered: more are looked for by name. */
const MOST = 12

/** Those who may decide, to be put in with a click. */
function Known({ onChoose }: { onChoose: (name: string) => void }) {
  const { data } = useQuery(people())
  const names = (data?.items ?? []).filter((one) => one.may_decide).slice(0, MOST)
  if (names.length === 0) return null
  return (
    <fieldset className={styles.known}>
      <legend>Who may decide</legend>
      {names.map((one) => (
        <Button key={one.name} onClick={() => onChoose(one.name)}>
          {one.display_name || one.name}
        </Button>
      ))}
    </fieldset>
  )
}
