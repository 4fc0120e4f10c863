import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { delegate, persons } from '~/api/identity'
import { useSession } from '~/api/session'
import { nameWords } from '~/lib/identity'
import { FormDialog } from '~/ui/FormDialog'
import { Choice } from '~/ui/SelectField'
import { tell } from '~/ui/toasts'

/** In a week, as a date field has it. */
const inAWeek = () => {
  const day = new Date(Date.now() + 7 * 86_400_000)
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, '0')}-${String(day.getDate()).padStart(2, '0')}T18:00`
}

/** Names who decides meanwhile; an admin may do so for somebody else. */
export function AwayDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const { actor, roles } = useSession()
  const { data } = useQuery(persons())
  const [from, setFrom] = useState(actor)
  const [to, setTo] = useState('')
  const [until, setUntil] = useState(inAWeek)
  const [reason, setReason] = useState('')
  const people = data?.items ?? []
  const options = (who: typeof people) =>
    who.map((person) => ({ value: person.name, label: nameWords(person) }))
  return (
    <FormDialog
      title="Let somebody decide meanwhile"
      opened
      onClose={onClose}
      keep="Leave it so"
      send="Let them decide"
      refused="Nobody decides for anybody else."
      disabled={to === '' || until === ''}
      note="Decisions carry the name of who made them."
      onSend={async () => {
        await delegate({
          to_user: to,
          from_user: from === actor ? undefined : from,
          until: new Date(until).toISOString(),
          reason,
        })
        await client.invalidateQueries({ queryKey: ['people', 'delegations'] })
        tell(`${to} decides for ${from}.`)
        onClose()
      }}
    >
      {roles.includes('admin') && (
        <Choice label="Who is away" value={from} options={options(people)} onChange={setFrom} />
      )}
      <Choice
        label="Who decides"
        value={to}
        options={[
          { value: '', label: 'Choose…' },
          ...options(people.filter((person) => person.may_decide && person.name !== from)),
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
        label="Why (optional)"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
