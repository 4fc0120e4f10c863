import { Button, Modal, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { reassign } from '~/api/commands'
import { people } from '~/api/identity'
import type { Approval } from '~/api/types'
import { DialogActions } from '~/ui/DialogActions'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './ReassignDialog.module.css'

type Props = { approval: Pick<Approval, 'approval_id'>; opened: boolean; onClose: () => void }

/** Assigns an approval to other people. */
export function ReassignDialog({ approval, opened, onClose }: Props) {
  const client = useQueryClient()
  const [to, setTo] = useState('')
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (names: string[]) => reassign(approval.approval_id, names, reason.trim()),
    onSuccess: (_, names) => {
      showToast(`Reassigned to ${names.join(', ')}.`)
      onClose()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    const names = to
      .split(/[,;\n]+/)
      .map((name) => name.trim())
      .filter(Boolean)
    if (names.length === 0) {
      setMissing(true)
      return
    }
    mutate(names)
  }
  return (
    <Modal opened={opened} onClose={onClose} title="Reassign approval">
      <form onSubmit={send}>
        {error !== null && <ProblemNotice title="Couldn't reassign the approval." error={error} />}
        <TextInput
          label="Assign to"
          description="Usernames, email addresses, roles or groups, separated by commas."
          value={to}
          error={missing && 'Enter at least one name.'}
          onChange={(event) => {
            setTo(event.currentTarget.value)
            setMissing(false)
          }}
          autoComplete="off"
          data-autofocus
        />
        <SuggestedPeople onSelect={(name) => setTo([to.trim(), name].filter(Boolean).join(', '))} />
        <Textarea
          label="Reason (optional)"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          mt={12}
        />
        <DialogActions note="Replaces the people who are assigned now.">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" loading={isPending}>
            Reassign
          </Button>
        </DialogActions>
      </form>
    </Modal>
  )
}

/** More people can be entered by name. */
const MAX_SUGGESTIONS = 12

/** People who can decide, to add with a click. */
function SuggestedPeople({ onSelect }: { onSelect: (name: string) => void }) {
  const { data } = useQuery(people())
  const names = (data?.items ?? []).filter((one) => one.can_decide).slice(0, MAX_SUGGESTIONS)
  if (names.length === 0) return null
  return (
    <fieldset className={styles.suggestions}>
      <legend>Suggestions</legend>
      {names.map((one) => (
        <Button key={one.name} onClick={() => onSelect(one.name)}>
          {one.display_name || one.name}
        </Button>
      ))}
    </fieldset>
  )
}
