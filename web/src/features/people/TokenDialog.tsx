import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { makeToken, persons } from '~/api/people'
import { useSession } from '~/api/session'
import type { TokenScope } from '~/api/types'
import { nameWords, SCOPES } from '~/lib/people'
import { Choice } from '~/ui/Choice'
import { FormDialog } from '~/ui/FormDialog'
import { Ticks } from '~/ui/Ticks'

const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: '', label: 'For ever' },
]

/** A token for a program, as narrow as it can be. */
export function TokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const client = useQueryClient()
  const { actor } = useSession()
  const { data: people } = useQuery(persons())
  const [name, setName] = useState('')
  const [user, setUser] = useState(actor)
  const [days, setDays] = useState('90')
  const [scopes, setScopes] = useState<TokenScope[]>(['read'])
  return (
    <FormDialog
      title="New token"
      opened
      onClose={onClose}
      keep="Make none"
      send="Make the token"
      refused="There is no new token."
      disabled={name.trim() === '' || scopes.length === 0}
      onSend={async () => {
        const made = await makeToken({ name, user, scopes, valid_days: days === '' ? null : Number(days) })
        await client.invalidateQueries({ queryKey: ['people'] })
        onMade(made.token)
      }}
    >
      <TextInput
        label="What it is for"
        placeholder="Nightly import"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Choice
        label="Whose it is"
        value={user}
        options={(people?.items ?? [{ name: actor, display_name: '' }]).map((person) => ({
          value: person.name,
          label: nameWords(person),
        }))}
        onChange={setUser}
      />
      <Ticks
        label="What it may be used for"
        about="Within what the roles of its user allow."
        options={SCOPES}
        value={scopes}
        onChange={setScopes}
      />
      <Choice label="Valid for" value={days} options={PERIODS} onChange={setDays} />
    </FormDialog>
  )
}
