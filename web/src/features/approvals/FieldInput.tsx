import { Checkbox, Textarea, TextInput } from '@mantine/core'
import type { FormField } from '~/api/types'
import { FileField } from './FileField'
import { type FormInputs, fieldHint, isUpload } from './formValues'

type Props = {
  executionId: string
  field: FormField
  value: FormInputs[string]
  error: string | undefined
  disabled: boolean
  onChange: (value: FormInputs[string]) => void
}

/** The input of one form field. */
export function FieldInput({ executionId, field, value, error, disabled, onChange }: Props) {
  const label = field.required || field.type === 'boolean' ? field.label : `${field.label} (optional)`
  const id = `field-${field.name}`
  const common = { id, label, error, disabled, description: fieldHint(field) }
  switch (field.type) {
    case 'boolean':
      return (
        <Checkbox
          {...common}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'file':
      return (
        <FileField
          executionId={executionId}
          id={id}
          label={label}
          error={error}
          value={isUpload(value) ? value : null}
          onChange={onChange}
        />
      )
    case 'multiline_text':
      return (
        <Textarea
          {...common}
          minRows={4}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'text':
    case 'number':
      return (
        <TextInput
          {...common}
          inputMode={field.type === 'number' ? 'decimal' : undefined}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
        />
      )
  }
}
