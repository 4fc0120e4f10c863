import { Button } from '@mantine/core'
import { type NotificationData, notifications } from '@mantine/notifications'
import { IconCircleCheckFilled, IconCloudOff, IconTrash } from '@tabler/icons-react'
import { addShortcuts } from '~/lib/shortcuts'
import { KeyHint } from './KeyHint'
import styles from './toasts.module.css'

const CONNECTION = 'connection'

let currentToast: string | undefined

/** Shows one toast at a time, so that they don't pile up. */
function show(toast: NotificationData): string {
  if (currentToast !== undefined) notifications.hide(currentToast)
  currentToast = notifications.show({
    role: 'status',
    classNames: { icon: styles.icon },
    closeButtonProps: { 'aria-label': 'Dismiss' },
    ...toast,
  })
  return currentToast
}

/** Confirms what was done. Errors are never shown as toasts. They stay where they occurred. */
export function showToast(message: string): void {
  show({ message, autoClose: 6000, icon: <IconCircleCheckFilled size={16} color="var(--green)" /> })
}

/** Offers to undo for ten seconds, with a button or the Z key. */
export function showUndoToast(message: string, undo: () => void, icon = <IconTrash size={16} />): void {
  const undoNow = () => {
    notifications.hide(id)
    undo()
  }
  const removeShortcut = addShortcuts({ z: undoNow })
  const id = show({
    autoClose: 10_000,
    icon,
    onClose: removeShortcut,
    message: (
      <span className={styles.row}>
        <span>{message}</span>
        <Button onClick={undoNow}>
          Undo
          <KeyHint>Z</KeyHint>
        </Button>
      </span>
    ),
  })
}

/** Shows whether the connection to the server is lost. */
export function showConnectionState(state: 'open' | 'lost'): void {
  if (state === 'open') {
    notifications.hide(CONNECTION)
    return
  }
  notifications.show({
    id: CONNECTION,
    role: 'status',
    message: 'Connection lost. Reconnecting…',
    autoClose: false,
    withCloseButton: false,
    icon: <IconCloudOff size={16} color="var(--tx)" />,
    classNames: { icon: styles.icon },
  })
}
