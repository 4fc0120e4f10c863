import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './CheckboxList.module.css'

type Option<T extends string> = { value: T; label: string; about?: string }
type Props<T extends string> = {
  label: string
  about?: ReactNode
  options: readonly Option<T>[]
  value: readonly T[]
  onChange: (value: T[]) => void
}

/** Any of a few, each with a box to tick. */
export function Ticks<T extends string>({ label, about, options, value, onChange }: Props<T>) {
  return (
    <Checkbox.Group
      label={label}
      description={about}
      value={[...value]}
      onChange={(next) => onChange(next as T[])}
    >
      <div className={styles.ticks}>
        {options.map((option) => (
          <Checkbox
            key={option.value}
            value={option.value}
            label={option.label}
            description={option.about}
            classNames={{ label: styles.label, description: styles.about, body: styles.body }}
          />
        ))}
      </div>
    </Checkbox.Group>
  )
}
