import { Button, Modal, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { handOver } from '~/api/changes'
import type { Approval } from '~/api/types'
import { Actions } from '~/ui/Actions'
import { Refusal } from '~/ui/Failure'
import { tell } from '~/ui/toasts'

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
