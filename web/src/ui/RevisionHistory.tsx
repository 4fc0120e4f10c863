import { Button, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { formatTime } from '~/lib/durations'
import { Diff } from './Code'
import { LoadingText } from './Loading'
import { Panel } from './Page'
import { LoadError, ProblemNotice } from './ProblemNotice'
import styles from './RevisionHistory.module.css'
import { useNow } from './Time'

type RevisionItem = { revision: number; created_by: string; created_at: string; comment?: string | null }
/** Saved changes of rules are called versions, all others revisions. */
type Noun = 'revision' | 'version'
type Props<T> = { items: readonly T[]; current: number; noun?: Noun; children: (shown: T) => ReactNode }

/** A list of revisions beside the changes of the selected one. */
export function RevisionHistory<T extends RevisionItem>({
  items,
  current,
  noun = 'revision',
  children,
}: Props<T>) {
  const [selected, setSelected] = useState<number | null>(null)
  const revisions = items.toSorted((one, other) => other.revision - one.revision)
  const shown = revisions.find((item) => item.revision === selected) ?? revisions[0]
  return (
    <div className={styles.history}>
      <Panel>
        <ol>
          {revisions.map((item) => (
            <Row
              key={item.revision}
              item={item}
              noun={noun}
              selected={item === shown}
              current={item.revision === current}
              onSelect={setSelected}
            />
          ))}
        </ol>
      </Panel>
      {shown !== undefined && children(shown)}
    </div>
  )
}

type RowProps = {
  item: RevisionItem
  noun: Noun
  selected: boolean
  current: boolean
  onSelect: (revision: number) => void
}

function Row({ item, noun, selected, current, onSelect }: RowProps) {
  const now = useNow()
  return (
    <li>
      <UnstyledButton className={styles.row} aria-pressed={selected} onClick={() => onSelect(item.revision)}>
        <span className={styles.revision}>
          {noun === 'version' ? 'Version' : 'Revision'} {item.revision}
          {current && <span className={styles.current}>current</span>}
        </span>
        <span className={styles.note}>
          {item.created_by}, {formatTime(item.created_at, now)}
        </span>
        {item.comment && <span className={styles.note}>{item.comment}</span>}
      </UnstyledButton>
    </li>
  )
}

type ChangeProps = {
  revision: number
  noun?: Noun
  /** The heading of the first revision, which has nothing to compare with. */
  firstTitle: string
  diff: { data?: { text: string }; error: unknown }
  /** Undefined if the user can't revert, or if this is the current revision. */
  onRevert?: () => Promise<unknown>
}

/** The changes of one revision, with a button to restore it. */
export function RevisionChange({ revision, noun = 'revision', firstTitle, diff, onRevert }: ChangeProps) {
  const { mutate: revert, isPending, error } = useMutation({ mutationFn: async () => onRevert?.() })
  const isFirst = revision <= 1
  return (
    <section
      className={styles.change}
      aria-label={`${noun === 'version' ? 'Version' : 'Revision'} ${revision}`}
    >
      <div className={styles.header}>
        <h2>{isFirst ? firstTitle : `Changes in ${noun} ${revision}`}</h2>
        {onRevert !== undefined && (
          <Button loading={isPending} onClick={() => revert()}>
            Restore {noun} {revision}
          </Button>
        )}
      </div>
      {error !== null && <ProblemNotice title={`Couldn't restore the ${noun}.`} error={error} />}
      {isFirst ? (
        <p className={styles.note}>This is the first {noun}.</p>
      ) : diff.error !== null ? (
        <LoadError title="Couldn't load the changes." error={diff.error} />
      ) : diff.data === undefined ? (
        <LoadingText />
      ) : diff.data.text === '' ? (
        <p className={styles.note}>No changes in the text.</p>
      ) : (
        <Diff text={diff.data.text} label={`Changes since ${noun} ${revision - 1}`} />
      )}
    </section>
  )
}
