import type { ChannelKind, DeliveryStatus, NoticeKind } from '~/api/types'
import type { State } from './states'

/** What people are told of; a test is never wished for. */
export const NOTICES: readonly { value: Exclude<NoticeKind, 'test'>; label: string }[] = [
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

export const noticeWords = (kind: NoticeKind) =>
  NOTICES.find((notice) => notice.value === kind)?.label ?? 'A test'

export const CHANNELS: readonly { value: ChannelKind; label: string; address: string }[] = [
  {
    value: 'teams',
    label: 'Microsoft Teams',
    address: 'Of the workflow “When a Teams webhook request is received”.',
  },
  { value: 'slack', label: 'Slack', address: 'Of an incoming webhook.' },
  { value: 'email', label: 'E-mail', address: '' },
  { value: 'webhook', label: 'Webhook', address: 'Where signed JSON is posted to.' },
  {
    value: 'apprise',
    label: 'Another service (apprise)',
    address: 'As apprise writes it, such as ntfys://ntfy.sh/topic.',
  },
]

export const channelWords = (kind: string) =>
  CHANNELS.find((channel) => channel.value === kind)?.label ?? kind

export const DELIVERIES: Record<DeliveryStatus, State> = {
  waiting: { tone: 'grey', sign: 'dotted', word: 'Waits' },
  sending: { tone: 'blue', sign: 'running', word: 'Being sent' },
  sent: { tone: 'green', sign: 'completed', word: 'Sent' },
  unknown: { tone: 'grey', sign: 'alert', word: 'Unknown' },
  failed: { tone: 'red', sign: 'failed', word: 'Failed' },
  skipped: { tone: 'grey', sign: 'cancelled', word: 'Not needed' },
}
