import { Modal } from '@mantine/core'
import { NAV } from './navigation'
import styles from './ShortcutsDialog.module.css'

const ON_A_RUN: [string, string][] = [
  ['A', 'Approve, or start what waits'],
  ['V', 'Request a revision'],
  ['R', 'Reject'],
  ['J', 'Next checkpoint'],
  ['K', 'Previous checkpoint'],
  ['/', 'Find in the log, on its tab'],
]
const ON_APPROVALS: [string, string][] = [
  ['J', 'Next'],
  ['K', 'Previous'],
  ['Enter', 'Open it, in the queue'],
  ['X', 'Choose it, in the queue'],
  ['A', 'Approve; where the risk is high, Enter confirms'],
  ['M', 'Modify the action'],
  ['V', 'Request a revision'],
  ['R', 'Reject'],
]
const ANYWHERE: [string, string][] = [
  ...NAV.map(({ key, label }): [string, string] => [`G ${key.toUpperCase()}`, `Go to ${label}`]),
  ['C', 'New pipeline, on Pipelines'],
  ['/', 'Search, on Pipelines'],
  ['Z', 'Undo, while it is offered'],
  ['?', 'These keys'],
]

/** All keys at a glance. */
export function Keys({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys">
      <KeyList title="Anywhere" keys={ANYWHERE} />
      <KeyList title="On Approvals" keys={ON_APPROVALS} />
      <KeyList title="On a run" keys={ON_A_RUN} />
    </Modal>
  )
}

function KeyList({ title, keys }: { title: string; keys: [string, string][] }) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      <dl className={styles.keys}>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
