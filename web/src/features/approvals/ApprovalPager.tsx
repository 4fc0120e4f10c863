import { ActionIcon, Tooltip } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { approvals } from '~/api/approvals'
import { useKeys } from '~/lib/shortcuts'
import { byUrgency } from '~/lib/waiting'
import { ofApproval } from '~/ui/PendingRows'
import styles from './ApprovalPager.module.css'

type Turn = { next: string | null; before: string | null; place: number; of: number }

/** Where an approval stands in the queue; J and K turn to the next and to the one before. */
export function useTurning(approvalId: string): Turn {
  const { data } = useQuery(approvals())
  const navigate = useNavigate()
  const ids = useMemo(
    () =>
      (data?.items ?? [])
        .filter((one) => one.kind !== 'input')
        .map(ofApproval)
        .sort(byUrgency)
        .map(({ id }) => id),
    [data],
  )
  const place = ids.indexOf(approvalId)
  const next = ids[place + 1] ?? null
  const before = place > 0 ? (ids[place - 1] ?? null) : null
  const keys = useMemo(() => {
    const open = (id: string | null) => () => {
      if (id !== null) void navigate({ to: '/approvals/$approvalId', params: { approvalId: id } })
    }
    return { j: open(next), k: open(before) }
  }, [next, before, navigate])
  useKeys(keys)
  return { next, before, place, of: ids.length }
}

export function Turning({ next, before, place, of }: Turn) {
  if (place < 0 || of < 2) return null
  return (
    <>
      <span className={styles.place}>
        {place + 1} of {of}
      </span>
      <Turner id={before} label="Previous approval" icon={IconChevronUp} />
      <Turner id={next} label="Next approval" icon={IconChevronDown} />
    </>
  )
}

function Turner({ id, label, icon: Icon }: { id: string | null; label: string; icon: typeof IconChevronUp }) {
  if (id === null) {
    return (
      <ActionIcon variant="default" aria-label={label} disabled>
        <Icon size={16} />
      </ActionIcon>
    )
  }
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        aria-label={label}
        renderRoot={(props) => <Link to="/approvals/$approvalId" params={{ approvalId: id }} {...props} />}
      >
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  )
}
