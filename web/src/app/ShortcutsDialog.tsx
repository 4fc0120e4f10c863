import { Modal } from '@mantine/core'
import { NAV } from './navigation'
import styles from './ShortcutsDialog.module.css'

const RUN_SHORTCUTS: [string, string][] = [
  ['A', 'Approve or start'],
  ['V', 'Request revision'],
  ['R', 'Reject'],
  ['J', 'Next checkpoint'],
  ['K', 'Previous checkpoint'],
  ['/', 'Search the log (on the Log tab)'],
]
const APPROVAL_SHORTCUTS: [string, string][] = [
  ['J', 'Next'],
  ['K', 'Previous'],
  ['Enter', 'Open (in the list)'],
  ['X', 'Select (in the list)'],
  ['A', 'Approve (press Enter to confirm if the risk is high)'],
  ['M', 'Modify action'],
  ['V', 'Request revision'],
  ['R', 'Reject'],
]
const GLOBAL_SHORTCUTS: [string, string][] = [
  ...NAV.map(({ key, label }): [string, string] => [`G ${key.toUpperCase()}`, `Go to ${label}`]),
  ['C', 'New pipeline (on Pipelines)'],
  ['/', 'Search (on Pipelines)'],
  ['Z', 'Undo (while the message is shown)'],
  ['?', 'Show keyboard shortcuts'],
]

/** Lists all keyboard shortcuts. */
export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <ShortcutList title="Everywhere" keys={GLOBAL_SHORTCUTS} />
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
