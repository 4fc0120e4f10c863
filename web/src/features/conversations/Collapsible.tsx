import { UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import styles from './Collapsible.module.css'

/** Which parts of one entry are unfolded. */
export type Folds = {
  of: string
  isOpen: (part: string) => boolean
  fold: (key: string, open: boolean) => void
}

type Props = {
  name: string
  folds: Folds
  sign?: ReactNode
  title: ReactNode
  /** The beginning of what it holds. */
  words: string
  end?: ReactNode
  children: ReactNode
}

/** One line that unfolds. */
export function Fold({ name, folds, sign, title, words, end, children }: Props) {
  const id = useId()
  const isOpen = folds.isOpen(name)
  return (
    <div className={styles.fold}>
      <UnstyledButton
        className={styles.line}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => folds.fold(`${folds.of} ${name}`, !isOpen)}
      >
        <IconChevronRight size={15} className={styles.chevron} aria-hidden="true" />
        {sign}
        <span className={styles.title}>{title}</span>
        <span className={styles.about}>{words}</span>
        {end !== undefined && <span className={styles.end}>{end}</span>}
      </UnstyledButton>
      {isOpen && (
        <div id={id} className={styles.inside}>
          {children}
        </div>
      )}
    </div>
  )
}
