import type { ChannelKind, DeliveryStatus, NotificationKind } from '~/api/types'
import type { State } from './states'

/** The kinds that can be selected. Tests can't be turned off. */
export const NOTIFICATION_KINDS: readonly { value: Exclude<NotificationKind, 'test'>; label: string }[] = [
  { value: 'approval_requested', label: 'Approval requested' },
  { value: 'approval_reminder_due', label: 'Deadline reminder (50%)' },
  { value: 'approval_escalated', label: 'Approval escalated' },
  { value: 'approval_assigned', label: 'Approval reassigned' },
  { value: 'approval_rejected', label: 'Approval rejected' },
  { value: 'approval_timeout', label: 'Approval timed out' },
  { value: 'approval_auto_approved', label: 'Approved by rule' },
  { value: 'execution_failed', label: 'Checkpoint failed' },
  { value: 'run_failed', label: 'Run failed' },
  { value: 'budget_warning', label: 'Budget warning' },
  { value: 'budget_exhausted', label: 'Budget exhausted, run paused' },
  { value: 'run_completed', label: 'Run completed' },
]

export const notificationLabel = (kind: NotificationKind) =>
  NOTIFICATION_KINDS.find(({ value }) => value === kind)?.label ?? 'Test'

export const CHANNEL_KINDS: readonly { value: ChannelKind; label: string; hint: string }[] = [
  {
    value: 'teams',
    label: 'Microsoft Teams',
    hint: 'URL of the workflow “When a Teams webhook request is received”.',
  },
  { value: 'slack', label: 'Slack', hint: 'URL of an incoming webhook.' },
  { value: 'email', label: 'Email', hint: '' },
  { value: 'webhook', label: 'Webhook', hint: 'URL that receives signed JSON.' },
  {
    value: 'apprise',
    label: 'Another service (apprise)',
    hint: 'Apprise URL, such as ntfys://ntfy.sh/topic.',
  },
]

export const channelLabel = (kind: string) =>
  CHANNEL_KINDS.find((channel) => channel.value === kind)?.label ?? kind

export const DELIVERY_STATES: Record<DeliveryStatus, State> = {
  queued: { tone: 'grey', icon: 'dotted', label: 'Queued' },
  sending: { tone: 'blue', icon: 'running', label: 'Sending' },
  sent: { tone: 'green', icon: 'completed', label: 'Sent' },
  unknown: { tone: 'grey', icon: 'alert', label: 'Unknown' },
  failed: { tone: 'red', icon: 'failed', label: 'Failed' },
  skipped: { tone: 'grey', icon: 'cancelled', label: 'Skipped' },
}
