import { Modal } from '@mantine/core'
import { NAV } from './navigation'
import styles from './ShortcutsDialog.module.css'

const RUN_SHORTCUTS: [string, string][] = [
  ['A', 'Approve, or start what waits'],
  ['V', 'Request a revision'],
  ['R', 'Reject'],
  ['J', 'Next checkpoint'],
  ['K', 'Previous checkpoint'],
  ['/', 'Find in the log, on its tab'],
]
const APPROVAL_SHORTCUTS: [string, string][] = [
  ['J', 'Next'],
  ['K', 'Previous'],
  ['Enter', 'Open it, in the queue'],
  ['X', 'Choose it, in the queue'],
  ['A', 'Approve; where the risk is high, Enter confirms'],
  ['M', 'Modify the action'],
  ['V', 'Request a revision'],
  ['R', 'Reject'],
]
const GLOBAL_SHORTCUTS: [string, string][] = [
  ...NAV.map(({ key, label }): [string, string] => [`G ${key.toUpperCase()}`, `Go to ${label}`]),
  ['C', 'New pipeline, on Pipelines'],
  ['/', 'Search, on Pipelines'],
  ['Z', 'Undo, while it is offered'],
  ['?', 'These keys'],
]

/** All keys at a glance. */
export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys">
      <ShortcutList title="Anywhere" keys={GLOBAL_SHORTCUTS} />
      <ShortcutList title="On Approvals" keys={APPROVAL_SHORTCUTS} />
      <ShortcutList title="On a run" keys={RUN_SHORTCUTS} />
    </Modal>
  )
}

function ShortcutList({ title, keys }: { title: string; keys: [string, string][] }) {
  return (
    <section className={styles.section}>
      <h2>{title}</h2>
      <dl className={styles.shortcuts}>
        {keys.map(([key, description]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
