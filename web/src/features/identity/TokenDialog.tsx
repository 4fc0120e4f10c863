import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { TokenScope } from '~/api/types'
import type { SCOPES } from '~/lib/identity'
import { CheckboxList } from '~/ui/CheckboxList'
import { FormDialog } from '~/ui/FormDialog'
import { SelectField } from '~/ui/SelectField'

export type TokenInput = { name: string; scopes: TokenScope[]; days: string }
type Period = { value: string; label: string }

export const PERIODS: readonly Period[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

type Props = {
  scopes: typeof SCOPES
  description: string
  periods: readonly Period[]
  create: (input: TokenInput) => Promise<{ token: string }>
  onClose: () => void
  onCreated: (token: string) => void
  /** Further fields. */
  children?: ReactNode
}

/** Creates an API token with limited scopes and lifetime. */
export function TokenDialog({
  scopes: offered,
  description,
  periods,
  create,
  onClose,
  onCreated,
  children,
}: Props) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [scopes, setScopes] = useState<TokenScope[]>(['read'])
  return (
    <FormDialog
      title="New token"
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Create token"
      errorTitle="Couldn't create the token."
      disabled={name.trim() === '' || scopes.length === 0}
      onSubmit={async () => {
        const created = await create({ name, scopes, days })
        await client.invalidateQueries({ queryKey: ['identity'] })
        onCreated(created.token)
      }}
    >
      <TextInput
        label="Name"
        placeholder="Nightly import"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {children}
      <CheckboxList
        label="Scopes"
        description={description}
        options={offered}
        value={scopes}
        onChange={setScopes}
      />
      <SelectField label="Expires after" value={days} options={[...periods]} onChange={setDays} />
    </FormDialog>
  )
}
