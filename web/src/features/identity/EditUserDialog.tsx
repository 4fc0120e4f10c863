import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { updateUser } from '~/api/identity'
import type { User } from '~/api/types'
import { FormDialog } from '~/ui/FormDialog'
import { showToast } from '~/ui/toasts'
import { RoleAndGroupFields, type RolesAndGroups } from './RoleAndGroupFields'

/** Edits the display name, email address, roles and groups of a user. */
export function EditUserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  if (user === null) return null
  return <EditUserForm key={user.name} user={user} onClose={onClose} />
}

function EditUserForm({ user, onClose }: { user: User; onClose: () => void }) {
  const client = useQueryClient()
  const [displayName, setDisplayName] = useState(user.display_name)
  const [email, setEmail] = useState(user.email)
  const [access, setAccess] = useState<RolesAndGroups>({ roles: user.roles, groups: user.groups })
  return (
    <FormDialog
      title={`Edit ${user.name}`}
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save user"
      errorTitle="Couldn't save the user."
      note="Role changes take effect immediately."
      onSubmit={async () => {
        await updateUser(user.name, { display_name: displayName, email, ...access })
        await client.invalidateQueries({ queryKey: ['identity'] })
        void client.invalidateQueries({ queryKey: ['session'] })
        showToast(`Saved ${user.name}.`)
        onClose()
      }}
    >
      <TextInput
        label="Display name (optional)"
        data-autofocus
        value={displayName}
        onChange={(event) => setDisplayName(event.currentTarget.value)}
      />
      <TextInput
        label="Email (optional)"
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RoleAndGroupFields value={access} onChange={setAccess} />
    </FormDialog>
  )
}
