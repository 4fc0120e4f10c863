import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createDelegation, people as peopleQuery } from '~/api/identity'
import { useSession } from '~/api/session'
import { personLabel } from '~/lib/identity'
import { FormDialog } from '~/ui/FormDialog'
import { SelectField } from '~/ui/SelectField'
import { showToast } from '~/ui/toasts'

/** One week from now, in the format of a date field. */
const inAWeek = () => {
  const day = new Date(Date.now() + 7 * 86_400_000)
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, '0')}-${String(day.getDate()).padStart(2, '0')}T18:00`
}

/** Creates a delegation. Admins can create one for another user. */
export function DelegationDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const { actor, roles } = useSession()
  const { data } = useQuery(peopleQuery())
  const [from, setFrom] = useState(actor)
  const [to, setTo] = useState('')
  const [until, setUntil] = useState(inAWeek)
  const [reason, setReason] = useState('')
  const people = data?.items ?? []
  const options = (who: typeof people) =>
    who.map((person) => ({ value: person.name, label: personLabel(person) }))
  return (
    <FormDialog
      title="New delegation"
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Create delegation"
      errorTitle="Couldn't create the delegation."
      disabled={to === '' || until === ''}
      note="Decisions are recorded under the name of the person who makes them."
      onSubmit={async () => {
        await createDelegation({
          to_user: to,
          from_user: from === actor ? undefined : from,
          ends_at: new Date(until).toISOString(),
          reason,
        })
        await client.invalidateQueries({ queryKey: ['identity', 'delegations'] })
        showToast(`${to} can now decide for ${from}.`)
        onClose()
      }}
    >
      {roles.includes('admin') && (
        <SelectField label="Delegate from" value={from} options={options(people)} onChange={setFrom} />
      )}
      <SelectField
        label="Delegate to"
        value={to}
        options={[
          { value: '', label: 'Select…' },
          ...options(people.filter((person) => person.can_decide && person.name !== from)),
        ]}
        onChange={setTo}
      />
      <TextInput
        label="Until"
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <TextInput
        label="Reason (optional)"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
