import { useQuery } from '@tanstack/react-query'
import { groups } from '~/api/identity'
import type { Role } from '~/api/types'
import { ROLES } from '~/lib/identity'
import { CheckboxList } from '~/ui/CheckboxList'

export type RolesAndGroups = { roles: Role[]; groups: string[] }

/** The roles and groups of a user. */
export function RoleAndGroupFields({
  value,
  onChange,
}: {
  value: RolesAndGroups
  onChange: (value: RolesAndGroups) => void
}) {
  const { data } = useQuery(groups())
  return (
    <>
      <CheckboxList
        label="Roles"
        description="A user needs at least one role. Permissions of several roles add up."
        options={ROLES}
        value={value.roles}
        onChange={(roles) => onChange({ ...value, roles })}
      />
      {data !== undefined && data.items.length > 0 && (
        <CheckboxList
          label="Groups"
          options={data.items.map((group) => ({
            value: group.name,
            label: group.name,
            description: group.description || undefined,
          }))}
          value={value.groups}
          onChange={(selected) => onChange({ ...value, groups: selected })}
        />
      )}
    </>
  )
}
