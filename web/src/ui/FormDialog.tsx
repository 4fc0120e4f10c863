import { Button, Modal } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Actions } from './DialogActions'
import styles from './FormDialog.module.css'
import { Refusal } from './ProblemNotice'

type Props = {
  title: string
  opened: boolean
  onClose: () => void
  /** Verb and object. */
  send: string
  keep: string
  onSend: () => Promise<unknown>
  /** What is said when the server refuses: what did not happen. */
  refused: string
  disabled?: boolean
  danger?: boolean
  note?: ReactNode
  wide?: boolean
  children: ReactNode
}

/** A form in a dialog. It stays open, with everything in it, until the server has taken it. */
export function FormDialog({ opened, onClose, title, wide, ...form }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size={wide ? 620 : undefined}>
      {opened && <Form {...form} onClose={onClose} />}
    </Modal>
  )
}

function Form(props: Omit<Props, 'opened' | 'title' | 'wide'>) {
  const { onClose, send, keep, onSend, refused, disabled, danger, note, children } = props
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefusal(null)
    try {
      await onSend()
    } catch (error) {
      setRefusal(error)
    }
    setBusy(false)
  }
  return (
    <form onSubmit={submit} className={styles.form}>
      {children}
      {refusal !== null && <Refusal title={refused} error={refusal} />}
      <Actions note={note}>
        <Button onClick={onClose}>{keep}</Button>
        <Button
          type="submit"
          variant="filled"
          color={danger ? 'red' : undefined}
          loading={busy}
          disabled={disabled}
        >
          {send}
        </Button>
      </Actions>
    </form>
  )
}
