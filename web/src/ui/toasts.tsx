import { Button } from '@mantine/core'
import { type NotificationData, notifications } from '@mantine/notifications'
import { IconCircleCheckFilled, IconCloudOff, IconTrash } from '@tabler/icons-react'
import { addKeys } from '~/lib/shortcuts'
import { Kbd } from './KeyHint'
import styles from './toasts.module.css'

const CONNECTION = 'connection'

let told: string | undefined

/** One toast at a time: a quick person should not look through a stack of them. */
function show(toast: NotificationData): string {
  if (told !== undefined) notifications.hide(told)
  told = notifications.show({
    role: 'status',
    classNames: { icon: styles.icon },
    closeButtonProps: { 'aria-label': 'Dismiss' },
    ...toast,
  })
  return told
}

/** What was done, in one sentence. Errors never come as toasts: they stay where they happened. */
export function tell(message: string): void {
  show({ message, autoClose: 6000, icon: <IconCircleCheckFilled size={16} color="var(--green)" /> })
}

/** What was done and can be taken back for ten seconds, by its button or by Z. */
export function tellWithUndo(message: string, undo: () => void, icon = <IconTrash size={16} />): void {
  const takeBack = () => {
    notifications.hide(id)
    undo()
  }
  const dropKey = addKeys({ z: takeBack })
  const id = show({
    autoClose: 10_000,
    icon,
    onClose: dropKey,
    message: (
      <span className={styles.row}>
        <span>{message}</span>
        <Button onClick={takeBack}>
          Undo
          <Kbd>Z</Kbd>
        </Button>
      </span>
    ),
  })
}

/** The line to the server was lost, or stands again. */
export function tellConnection(state: 'open' | 'lost'): void {
  if (state === 'open') {
    notifications.hide(CONNECTION)
    return
  }
  notifications.show({
    id: CONNECTION,
    role: 'status',
    message: 'Connection lost. Catching up as soon as the server answers.',
    autoClose: false,
    withCloseButton: false,
    icon: <IconCloudOff size={16} color="var(--tx)" />,
    classNames: { icon: styles.icon },
  })
}
