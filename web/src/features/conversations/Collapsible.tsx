import { UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import styles from './Collapsible.module.css'

/** Which parts of an entry are expanded. */
export type CollapseState = {
  entryKey: string
  isOpen: (part: string) => boolean
  setExpanded: (key: string, open: boolean) => void
}

type Props = {
  name: string
  collapse: CollapseState
  icon?: ReactNode
  title: ReactNode
  /** The beginning of the content. */
  preview: string
  trailing?: ReactNode
  children: ReactNode
}

/** A line that can be expanded. */
export function Collapsible({ name, collapse, icon, title, preview, trailing, children }: Props) {
  const id = useId()
  const isOpen = collapse.isOpen(name)
  return (
    <div className={styles.collapsible}>
      <UnstyledButton
        className={styles.line}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => collapse.setExpanded(`${collapse.entryKey} ${name}`, !isOpen)}
      >
        <IconChevronRight size={15} className={styles.chevron} aria-hidden="true" />
        {icon}
        <span className={styles.title}>{title}</span>
        <span className={styles.preview}>{preview}</span>
        {trailing !== undefined && <span className={styles.trailing}>{trailing}</span>}
      </UnstyledButton>
      {isOpen && (
        <div id={id} className={styles.body}>
          {children}
        </div>
      )}
    </div>
  )
}
