import {
  IconHome,
  IconInbox,
  IconListDetails,
  IconPlayerPlay,
  IconRobot,
  IconRoute,
  IconScale,
  IconTemplate,
} from '@tabler/icons-react'

/** The main navigation. */
export const NAV = [
  { to: '/', label: 'Home', icon: IconHome, key: 'h', phone: true },
  { to: '/approvals', label: 'Approvals', icon: IconInbox, key: 'a', phone: true },
  { to: '/pipelines', label: 'Pipelines', icon: IconRoute, key: 'p', phone: true },
  { to: '/runs', label: 'Runs', icon: IconPlayerPlay, key: 'r', phone: true },
  { to: '/events', label: 'Events', icon: IconListDetails, key: 'e', phone: false },
  { to: '/rules', label: 'Rules', icon: IconScale, key: 'u', phone: false },
  { to: '/agents', label: 'Agents', icon: IconRobot, key: 'l', phone: false },
  { to: '/templates', label: 'Templates', icon: IconTemplate, key: 't', phone: false },
] as const
