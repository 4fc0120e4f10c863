import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invite } from '~/api/identity'
import { FormDialog } from '~/ui/FormDialog'
import { SelectField } from '~/ui/SelectField'
import { RoleAndGroupFields, type RolesAndGroups } from './RoleAndGroupFields'

const PERIODS = [
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
]
const EMPTY_FIELDS = { name: '', display_name: '', email: '' }

type Props = { opened: boolean; onClose: () => void; onInvited: (path: string) => void }

/** Creates a user and an invitation link to set a password. */
export function InviteDialog({ opened, onClose, onInvited }: Props) {
  const client = useQueryClient()
  const [fields, setFields] = useState(EMPTY_FIELDS)
  const [access, setAccess] = useState<RolesAndGroups>({ roles: ['viewer'], groups: [] })
  const [hours, setHours] = useState('72')
  const field = (name: keyof typeof EMPTY_FIELDS) => ({
    value: fields[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      setFields({ ...fields, [name]: event.currentTarget.value }),
  })
  const send = async () => {
    const invitation = await invite({ ...fields, ...access, valid_hours: Number(hours) })
    await client.invalidateQueries({ queryKey: ['identity'] })
    setFields(EMPTY_FIELDS)
    onInvited(invitation.path)
  }
  return (
    <FormDialog
      title="Invite user"
      opened={opened}
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Create invitation"
      errorTitle="Couldn't create the invitation."
      disabled={fields.name.trim() === ''}
      onSubmit={send}
    >
      <TextInput
        label="Username"
        description="Used to sign in and recorded with every decision. It can't be changed."
        data-autofocus
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        {...field('name')}
      />
      <TextInput label="Display name (optional)" autoComplete="off" {...field('display_name')} />
      <TextInput label="Email (optional)" type="email" autoComplete="off" {...field('email')} />
      <RoleAndGroupFields value={access} onChange={setAccess} />
      <SelectField label="Link expires after" value={hours} options={PERIODS} onChange={setHours} />
    </FormDialog>
  )
}
