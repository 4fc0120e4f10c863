import type { ChannelKind, DeliveryStatus, NotificationKind } from '~/api/types'
import type { State } from './states'

/** What people are told of; a test is never wished for. */
export const NOTIFICATION_KINDS: readonly { value: Exclude<NotificationKind, 'test'>; label: string }[] = [
  { value: 'approval_asked', label: 'An approval is asked' },
  { value: 'approval_reminded', label: 'Half of the time to decide is over' },
  { value: 'approval_escalated', label: 'Nobody decided in time, others are asked' },
  { value: 'approval_assigned', label: 'An approval was handed over' },
  { value: 'approval_rejected', label: 'Somebody said no' },
  { value: 'approval_timeout', label: 'Nobody decided in time' },
  { value: 'approval_auto_approved', label: 'A rule approved and says so' },
  { value: 'execution_failed', label: 'A checkpoint was given up' },
  { value: 'run_failed', label: 'A run failed' },
  { value: 'budget_nearly_spent', label: 'Most of a budget is used' },
  { value: 'budget_spent', label: 'A budget is spent, the run pauses' },
  { value: 'run_completed', label: 'A run is complete' },
]

export const notificationLabel = (kind: NotificationKind) =>
  NOTIFICATION_KINDS.find(({ value }) => value === kind)?.label ?? 'A test'

export const CHANNEL_KINDS: readonly { value: ChannelKind; label: string; hint: string }[] = [
  {
    value: 'teams',
    label: 'Microsoft Teams',
    hint: 'Of the workflow “When a Teams webhook request is received”.',
  },
  { value: 'slack', label: 'Slack', hint: 'Of an incoming webhook.' },
  { value: 'email', label: 'E-mail', hint: '' },
  { value: 'webhook', label: 'Webhook', hint: 'Where signed JSON is posted to.' },
  {
    value: 'apprise',
    label: 'Another service (apprise)',
    hint: 'As apprise writes it, such as ntfys://ntfy.sh/topic.',
  },
]

export const channelLabel = (kind: string) =>
  CHANNEL_KINDS.find((channel) => channel.value === kind)?.label ?? kind

export const DELIVERY_STATES: Record<DeliveryStatus, State> = {
  waiting: { tone: 'grey', icon: 'dotted', label: 'Waits' },
  sending: { tone: 'blue', icon: 'running', label: 'Being sent' },
  sent: { tone: 'green', icon: 'completed', label: 'Sent' },
  unknown: { tone: 'grey', icon: 'alert', label: 'Unknown' },
  failed: { tone: 'red', icon: 'failed', label: 'Failed' },
  skipped: { tone: 'grey', icon: 'cancelled', label: 'Not needed' },
}
