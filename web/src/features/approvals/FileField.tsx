import { Button, FileButton, Input } from '@mantine/core'
import { IconPaperclip, IconUpload, IconX } from '@tabler/icons-react'
import { useState } from 'react'
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

/** A file goes to the server when it is chosen, so that a reload does not lose it. */
export function FileField({ executionId, id, label, value, error, onChange }: Props) {
  const [busy, setBusy] = useState<string | null>(null)
  const [uploadError, setUploadError] = useState<string | null>(null)
  const upload = async (file: File | null) => {
    if (file === null) return
    setBusy(file.name)
    setUploadError(null)
    try {
      onChange(await uploadFile(executionId, file))
    } catch (failure) {
      const problem = asProblem(failure)
      setUploadError(
        problem.status === 413
          ? `${file.name} has ${formatBytes(file.size)}. ${problem.detail}`
          : problem.detail,
      )
    } finally {
      setBusy(null)
    }
  }
  return (
    <Input.Wrapper label={label} error={uploadError ?? error} labelProps={{ htmlFor: id }}>
      <div className={styles.file}>
        {value !== null && (
          <span className={styles.selected}>
            <IconPaperclip size={15} aria-hidden="true" />
            <code>{value.filename}</code> {formatBytes(value.size_bytes)}
          </span>
        )}
        <FileButton onChange={upload}>
          {(props) => (
            <Button
              {...props}
              id={id}
              loading={busy !== null}
              leftSection={<IconUpload size={15} />}
              aria-label={value === null ? `Choose a file: ${label}` : `Choose another file: ${label}`}
            >
              {value === null ? 'Choose a file' : 'Choose another'}
            </Button>
          )}
        </FileButton>
        {value !== null && (
          <Button variant="subtle" leftSection={<IconX size={15} />} onClick={() => onChange(null)}>
            Take away
          </Button>
        )}
      </div>
    </Input.Wrapper>
  )
}
