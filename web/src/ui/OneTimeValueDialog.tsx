import { Button, CopyButton, Modal, TextInput } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { DialogActions } from './DialogActions'
import styles from './OneTimeValueDialog.module.css'

type Props = { title: string; label: string; value: string | null; onClose: () => void; children: ReactNode }

/** Shows a value that can't be displayed again, with a copy button. */
export function OneTimeValueDialog({ title, label, value, onClose, children }: Props) {
  return (
    <Modal opened={value !== null} onClose={onClose} title={title} size={560} closeOnClickOutside={false}>
      <p>{children}</p>
      <div className={styles.row}>
        <TextInput
          label={label}
          value={value ?? ''}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          classNames={{ input: styles.value }}
        />
        <CopyButton value={value ?? ''}>
          {({ copied, copy }) => (
            <Button
              data-autofocus
              leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              onClick={copy}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </div>
      <DialogActions note="You won't be able to see this again.">
        <Button variant="filled" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Modal>
  )
}
