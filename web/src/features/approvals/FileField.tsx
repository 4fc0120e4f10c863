import { Button, FileButton, Input } from '@mantine/core'
import { IconPaperclip, IconUpload, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { uploadFile } from '~/api/commands'
import { formatBytes } from '~/lib/formatting'
import { asProblem } from '~/lib/problems'
import styles from './ExecutionForm.module.css'
import type { Upload } from './formValues'

type Props = {
  executionId: string
  id: string
  label: string
  value: Upload | null
  error: string | undefined
  onChange: (value: Upload | null) => void
}

/** Uploads the file when it is chosen, so that a reload doesn't lose it. */
export function FileField({ executionId, id, label, value, error, onChange }: Props) {
  const upload = useMutation({
    mutationFn: (file: File) => uploadFile(executionId, file),
    onSuccess: onChange,
  })
  const uploadError = upload.error === null ? null : uploadErrorText(upload.error, upload.variables)
  return (
    <Input.Wrapper label={label} error={uploadError ?? error} labelProps={{ htmlFor: id }}>
      <div className={styles.file}>
        {value !== null && (
          <span className={styles.selected}>
            <IconPaperclip size={15} aria-hidden="true" />
            <code>{value.filename}</code> {formatBytes(value.size_bytes)}
          </span>
        )}
        <FileButton onChange={(file) => file !== null && upload.mutate(file)}>
          {(props) => (
            <Button
              {...props}
              id={id}
              loading={upload.isPending}
              leftSection={<IconUpload size={15} />}
              aria-label={value === null ? `Choose a file: ${label}` : `Choose another file: ${label}`}
            >
              {value === null ? 'Choose a file' : 'Choose another file'}
            </Button>
          )}
        </FileButton>
        {value !== null && (
          <Button variant="subtle" leftSection={<IconX size={15} />} onClick={() => onChange(null)}>
            Remove
          </Button>
        )}
      </div>
    </Input.Wrapper>
  )
}

function uploadErrorText(error: unknown, file: File): string {
  const { status, detail } = asProblem(error)
  return status === 413 ? `${file.name} is ${formatBytes(file.size)}. ${detail}` : detail
}
