import { Radio } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './ImpactPreview.module.css'

/** One effect of a command, shown before it is confirmed. */
export function ImpactItem({ icon, name, children }: { icon: ReactNode; name: string; children: ReactNode }) {
  return (
    <div className={styles.impactItem}>
      <dt>
        <span aria-hidden="true">{icon}</span>
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A target to select. Without a value it is disabled. */
export function TargetOption({
  value,
  name,
  note,
  autofocus = false,
}: {
  value: string | null
  name: string
  note: string
  autofocus?: boolean
}) {
  return (
    <div className={styles.option} data-locked={value === null || undefined}>
      {value === null ? (
        <>
          <IconLock size={16} aria-hidden="true" />
          <span className={styles.name}>{name}</span>
        </>
      ) : (
        <Radio
          data-autofocus={autofocus || undefined}
          value={value}
          size="xs"
          label={name}
          className={styles.name}
          classNames={{ label: styles.label }}
        />
      )}
      <span className={styles.note}>{note}</span>
    </div>
  )
}
