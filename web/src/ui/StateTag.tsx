import {
  IconAlertTriangleFilled,
  IconArrowBackUp,
  IconBan,
  IconBolt,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleDotted,
  IconCircleXFilled,
  IconClockX,
  IconForms,
  IconLoader2,
  IconLock,
  IconPencil,
  IconPlayerPauseFilled,
  IconRefresh,
  IconUserCircle,
  type Icon as TablerIcon,
} from '@tabler/icons-react'
import type { State, StateIconName, Tone } from '~/lib/states'
import styles from './StateTag.module.css'

const ICONS: Record<StateIconName, TablerIcon> = {
  dashed: IconCircleDashed,
  dotted: IconCircleDotted,
  running: IconLoader2,
  paused: IconPlayerPauseFilled,
  completed: IconCircleCheckFilled,
  failed: IconCircleXFilled,
  cancelled: IconBan,
  person: IconUserCircle,
  form: IconForms,
  alert: IconAlertTriangleFilled,
  retry: IconRefresh,
  rework: IconArrowBackUp,
  blocked: IconLock,
  rule: IconBolt,
  pencil: IconPencil,
  timeout: IconClockX,
}

const TONES: Record<Tone, string | undefined> = {
  grey: styles.grey,
  blue: styles.blue,
  green: styles.green,
  red: styles.red,
  ochre: styles.ochre,
}

/** The icon of a state. Its label is shown beside it. */
export function StateIcon({ state, size = 16 }: { state: State; size?: number }) {
  const Icon = ICONS[state.icon]
  return (
    <span className={`${styles.icon} ${TONES[state.tone]}`} aria-hidden="true">
      <Icon size={size} stroke={1.75} className={state.icon === 'running' ? 'turning' : undefined} />
    </span>
  )
}

/** A state with icon and label. `pill` adds a coloured background. */
export function StateTag({ state, pill = false }: { state: State; pill?: boolean }) {
  return (
    <span className={`${styles.tag} ${TONES[state.tone]} ${pill ? styles.pill : ''}`}>
      <StateIcon state={state} />
      {state.label}
    </span>
  )
}
