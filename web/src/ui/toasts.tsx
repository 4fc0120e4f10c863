import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconCircleCheckFilled, IconCloudOff, IconTrash } from '@tabler/icons-react'
import styles from './toasts.module.css'

const CONNECTION = 'connection'

/** What was done, in one sentence. Errors never come as toasts: they stay where they happened. */
export function tell(message: string): void {
  notifications.show({
    message,
    autoClose: 6000,
    icon: <IconCircleCheckFilled size={16} color="var(--green)" />,
    withBorder: false,
    classNames: { icon: styles.icon },
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

/** What was done and can be taken back for ten seconds. */
export function tellWithUndo(message: string, undo: () => void): void {
  const id = notifications.show({
    autoClose: 10_000,
    icon: <IconTrash size={16} />,
    classNames: { icon: styles.icon },
    closeButtonProps: { 'aria-label': 'Dismiss' },
    message: (
      <span className={styles.row}>
        <span>{message}</span>
        <Button
          onClick={() => {
            notifications.hide(id)
            undo()
          }}
        >
          Undo
        </Button>
      </span>
    ),
  })
}

export function tellConnection(state: 'open' | 'lost'): void {
  if (state === 'open') {
    notifications.hide(CONNECTION)
    return
  }
  notifications.show({
    id: CONNECTION,
    message: 'Connection lost. Catching up as soon as the server answers.',
    autoClose: false,
    withCloseButton: false,
    icon: <IconCloudOff size={16} color="var(--tx)" />,
    classNames: { icon: styles.icon },
  })
}
