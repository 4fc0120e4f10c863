import { Checkbox, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ParameterField } from '~/lib/parameters'
import { SelectField } from '~/ui/SelectField'
import styles from './ModifyDrawer.module.css'

type Props = {
  field: ParameterField
  value: string | boolean
  changed: boolean
  error: string | undefined
  onChange: (value: string | boolean) => void
}

/** The input of one action parameter. Changed parameters are marked. */
export function ParameterInput({ field, value, changed, error, onChange }: Props) {
  const optional = field.required || field.input === 'boolean' ? '' : ' (optional)'
  const label: ReactNode = (
    <>
      {field.label}
      {optional}
      {changed && <span className={styles.changed}> changed</span>}
    </>
  )
  const text = typeof value === 'string' ? value : ''
  const common = {
    id: `parameter-${field.name}`,
    label,
    error,
    description: field.hint === '' ? undefined : field.hint,
  }
  switch (field.input) {
    case 'boolean':
      return (
        <Checkbox
          {...common}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <SelectField
          label={`${field.label}${optional}`}
          value={text}
          options={[
            ...(field.required ? [] : [{ value: '', label: 'Not set' }]),
            ...field.choices.map((choice) => ({ value: choice, label: choice })),
          ]}
          onChange={onChange}
        />
      )
    case 'text':
    case 'list':
    case 'json':
      return (
        <Textarea
          {...common}
          minRows={field.input === 'text' ? 4 : 1}
          classNames={field.input === 'json' ? { input: styles.mono } : undefined}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'line':
    case 'number':
      return (
        <TextInput
          {...common}
          inputMode={field.input === 'number' ? 'decimal' : undefined}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
        />
      )
  }
}
