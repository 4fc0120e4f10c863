import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './CheckboxList.module.css'

type Option<T extends string> = { value: T; label: string; description?: string }
type Props<T extends string> = {
  label: string
  description?: ReactNode
  options: readonly Option<T>[]
  value: readonly T[]
  onChange: (value: T[]) => void
}

/** A group of checkboxes. */
export function CheckboxList<T extends string>({ label, description, options, value, onChange }: Props<T>) {
  return (
    <Checkbox.Group
      label={label}
      description={description}
      value={[...value]}
      onChange={(next) => onChange(next as T[])}
    >
      <div className={styles.options}>
        {options.map((option) => (
          <Checkbox
            key={option.value}
            value={option.value}
            label={option.label}
            description={option.description}
            classNames={{ label: styles.label, description: styles.description, body: styles.body }}
          />
        ))}
      </div>
    </Checkbox.Group>
  )
}
