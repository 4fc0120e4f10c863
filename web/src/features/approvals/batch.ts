import type { PendingItem } from '~/ui/PendingRows'

/** Whether it can be part of a batch decision. */
export function canBatch({ approval }: PendingItem): boolean {
  return (
    approval?.can_decide === true &&
    approval.kind !== 'input' &&
    approval.available_decisions.includes('approve')
  )
}

/** Whether one decision can apply to both: the same kind, operation and checkpoint. */
export function isSameDecision(one: PendingItem, other: PendingItem): boolean {
  const [a, b] = [one.approval, other.approval]
  return (
    a !== null &&
    b !== null &&
    a.kind === b.kind &&
    a.operation_type === b.operation_type &&
    a.checkpoint_name === b.checkpoint_name
  )
}
