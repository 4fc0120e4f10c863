import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { DialogActions } from './DialogActions'
import styles from './FormDialog.module.css'
import { ProblemNotice } from './ProblemNotice'

type Props = {
  title: string
  opened: boolean
  onClose: () => void
  /** A verb and its object, such as “Save group”. */
  submitLabel: string
  cancelLabel: string
  onSubmit: () => Promise<unknown>
  /** The title of the error message if the request fails. */
  errorTitle: string
  disabled?: boolean
  danger?: boolean
  note?: ReactNode
  wide?: boolean
  children: ReactNode
}

/** A form in a dialog. It stays open, with all input, until the request succeeds. */
export function FormDialog({ opened, onClose, title, wide, ...form }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size={wide ? 620 : undefined}>
      {opened && <Form {...form} onClose={onClose} />}
    </Modal>
  )
}

function Form(props: Omit<Props, 'opened' | 'title' | 'wide'>) {
  const { onClose, submitLabel, cancelLabel, onSubmit, errorTitle, disabled, danger, note, children } = props
  const { mutate, isPending, error } = useMutation({ mutationFn: () => onSubmit() })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form onSubmit={submit} className={styles.form}>
      {children}
      {error !== null && <ProblemNotice title={errorTitle} error={error} />}
      <DialogActions note={note}>
        <Button onClick={onClose}>{cancelLabel}</Button>
        <Button
          type="submit"
          variant="filled"
          color={danger ? 'red' : undefined}
          loading={isPending}
          disabled={disabled}
        >
          {submitLabel}
        </Button>
      </DialogActions>
    </form>
  )
}
