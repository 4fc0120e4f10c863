import { ActionIcon, Tooltip } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { pendingApprovals } from '~/api/approvals'
import { useShortcuts } from '~/lib/shortcuts'
import { byUrgency } from '~/lib/waiting'
import { approvalItem } from '~/ui/PendingRows'
import styles from './ApprovalPager.module.css'

type PagerState = { next: string | null; previous: string | null; index: number; total: number }

/** The position of an approval in the list. J and K open the next and the previous one. */
export function useApprovalPager(approvalId: string): PagerState {
  const { data } = useQuery(pendingApprovals())
  const navigate = useNavigate()
  const ids = useMemo(
    () =>
      (data?.items ?? [])
        .filter((one) => one.kind !== 'input')
        .map(approvalItem)
        .sort(byUrgency)
        .map(({ id }) => id),
    [data],
  )
  const index = ids.indexOf(approvalId)
  const next = ids[index + 1] ?? null
  const previous = index > 0 ? (ids[index - 1] ?? null) : null
  const keys = useMemo(() => {
    const open = (id: string | null) => () => {
      if (id !== null) void navigate({ to: '/approvals/$approvalId', params: { approvalId: id } })
    }
    return { j: open(next), k: open(previous) }
  }, [next, previous, navigate])
  useShortcuts(keys)
  return { next, previous, index, total: ids.length }
}

export function ApprovalPager({ next, previous, index, total }: PagerState) {
  if (index < 0 || total < 2) return null
  return (
    <>
      <span className={styles.position}>
        {index + 1} of {total}
      </span>
      <PagerButton id={previous} label="Previous approval" icon={IconChevronUp} />
      <PagerButton id={next} label="Next approval" icon={IconChevronDown} />
    </>
  )
}

function PagerButton({
  id,
  label,
  icon: Icon,
}: {
  id: string | null
  label: string
  icon: typeof IconChevronUp
}) {
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
