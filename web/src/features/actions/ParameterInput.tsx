import { Checkbox, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ParameterField } from '~/lib/parameters'
import { Choice } from '~/ui/SelectField'
import styles from './ModifyDrawer.module.css'

type Props = {
  field: ParameterField
  value: string | boolean
  changed: boolean
  error: string | undefined
  onChange: (value: string | boolean) => void
}

/** One parameter of an action, by its type; those that are changed say so. */
export function ParameterInput({ field, value, changed, error, onChange }: Props) {
  const optional = field.required || field.way === 'boolean' ? '' : ' (optional)'
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
  switch (field.way) {
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
        <Choice
          label={`${field.label}${optional}`}
          value={text}
          options={[
            ...(field.required ? [] : [{ value: '', label: 'not given' }]),
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
          minRows={field.way === 'text' ? 4 : 1}
          classNames={field.way === 'json' ? { input: styles.mono } : undefined}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'line':
    case 'number':
      return (
        <TextInput
          {...common}
          inputMode={field.way === 'number' ? 'decimal' : undefined}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
        />
      )
  }
}
