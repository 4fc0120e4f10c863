import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeUser } from '~/api/identity'
import type { User } from '~/api/types'
import { FormDialog } from '~/ui/FormDialog'
import { tell } from '~/ui/toasts'
import { RolesAndGroups, type Standing } from './RoleAndGroupFields'

/** Changes what people see of a user, the address, roles and groups. */
export function UserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  if (user === null) return null
  return <Changing key={user.name} user={user} onClose={onClose} />
}

function Changing({ user, onClose }: { user: User; onClose: () => void }) {
  const client = useQueryClient()
  const [shown, setShown] = useState(user.display_name)
  const [email, setEmail] = useState(user.email)
  const [standing, setStanding] = useState<Standing>({ roles: user.roles, groups: user.groups })
  return (
    <FormDialog
      title={`Change ${user.name}`}
      opened
      onClose={onClose}
      keep="Leave it so"
      send="Save the user"
      refused="Nothing was changed."
      note="Roles hold at once."
      onSend={async () => {
        await changeUser(user.name, { display_name: shown, email, ...standing })
        await client.invalidateQueries({ queryKey: ['people'] })
        void client.invalidateQueries({ queryKey: ['session'] })
        tell(`${user.name} is changed.`)
        onClose()
      }}
    >
      <TextInput
        label="What people see (optional)"
        data-autofocus
        value={shown}
        onChange={(event) => setShown(event.currentTarget.value)}
      />
      <TextInput
        label="E-mail address (optional)"
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RolesAndGroups value={standing} onChange={setStanding} />
    </FormDialog>
  )
}
