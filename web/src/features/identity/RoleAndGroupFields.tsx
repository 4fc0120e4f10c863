import { useQuery } from '@tanstack/react-query'
import { groups } from '~/api/identity'
import type { Role } from '~/api/types'
import { ROLES } from '~/lib/identity'
import { Ticks } from '~/ui/CheckboxList'

export type Standing = { roles: Role[]; groups: string[] }

/** What somebody may, and to whom they belong. */
export function RolesAndGroups({
  value,
  onChange,
}: {
  value: Standing
  onChange: (value: Standing) => void
}) {
  const { data } = useQuery(groups())
  return (
    <>
      <Ticks
        label="Roles"
        about="Roles add up. Nobody gets in without one."
        options={ROLES}
        value={value.roles}
        onChange={(roles) => onChange({ ...value, roles })}
      />
      {data !== undefined && data.items.length > 0 && (
        <Ticks
          label="Groups"
          options={data.items.map((group) => ({
            value: group.name,
            label: group.name,
            about: group.description || undefined,
          }))}
          value={value.groups}
          onChange={(chosen) => onChange({ ...value, groups: chosen })}
        />
      )}
    </>
  )
}
