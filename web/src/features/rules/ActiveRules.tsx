import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteRules, type Scope } from '~/api/rules'
import type { RuleSummary, RuleText } from '~/api/types'
import { effectText } from '~/lib/rules'
import { Code } from '~/ui/Code'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { Notice } from '~/ui/Notice'
import { Section } from '~/ui/Page'
import { Time } from '~/ui/Time'
import { showToast } from '~/ui/toasts'
import styles from './Rules.module.css'

type Props = { scope: Scope; stored: RuleText; canEdit: boolean; onEdit: (editing: boolean) => void }

/** The active rules and their source. */
export function ActiveRules({ scope, stored, canEdit, onEdit }: Props) {
  const [deleting, setDeleting] = useState(false)
  const client = useQueryClient()
  return (
    <div className={styles.sections}>
      <FileErrors stored={stored} />
      {stored.text.trim() === '' ? (
        <EmptyState
          title={scope === null ? 'No rules yet' : 'This pipeline has no rules'}
          action={
            canEdit && (
              <Button variant="filled" onClick={() => onEdit(true)}>
                Write rules
              </Button>
            )
          }
        >
          {scope === null
            ? 'Approvals are required where a checkpoint requests them and for actions above low risk.'
            : 'Global rules still apply.'}
        </EmptyState>
      ) : (
        <>
          <DataTable label="Rules" columns={COLUMNS} rows={sortRules(stored.rules).map(rowOf)} />
          <Section
            title="Source"
            aside={
              canEdit && (
                <span className={styles.buttons}>
                  {scope !== null && (
                    <Button variant="subtle" color="red" onClick={() => setDeleting(true)}>
                      Delete rules…
                    </Button>
                  )}
                  <Button leftSection={<IconPencil size={16} />} onClick={() => onEdit(true)}>
                    Edit
                  </Button>
                </span>
              )
            }
          >
            <div className={styles.sections}>
              <Code text={stored.text} label="Rules source" lines />
              <RevisionInfo stored={stored} />
            </div>
          </Section>
        </>
      )}
      <FormDialog
        title="Delete the rules of this pipeline?"
        opened={deleting}
        onClose={() => setDeleting(false)}
        cancelLabel="Cancel"
        submitLabel="Delete rules"
        errorTitle="Couldn't delete the rules."
        danger
        note="You can restore earlier versions."
        onSubmit={async () => {
          if (scope !== null) await deleteRules(scope, stored.revision)
          await client.invalidateQueries({ queryKey: ['rules'] })
          setDeleting(false)
          showToast('Pipeline rules deleted.')
        }}
      >
        <p>Afterwards, only the global rules apply.</p>
      </FormDialog>
    </div>
  )
}

/** Errors in the watched rules file. */
function FileErrors({ stored }: { stored: RuleText }) {
  if (stored.file === null || stored.file.errors.length === 0) return null
  return (
    <Notice tone="red" title={`${stored.file.path} has errors. The previous rules are still active.`}>
      <ul>
        {stored.file.errors.map((error) => (
          <li key={`${error.path}${error.message}`}>
            {error.line !== null && `Line ${error.line}: `}
            {error.message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

function RevisionInfo({ stored }: { stored: RuleText }) {
  return (
    <p className={styles.note}>
      Version {stored.revision}
      {stored.created_by !== null && ` by ${stored.created_by}`}
      {stored.created_at !== null && (
        <>
          , <Time at={stored.created_at} />
        </>
      )}
      {stored.comment !== '' && `: ${stored.comment}`}
      {stored.file !== null && (
        <>
          . You can also edit the file <code>{stored.file.path}</code>.
        </>
      )}
    </p>
  )
}

const COLUMNS = [
  { title: 'Rule', width: 'minmax(0, 1.4fr)', untitled: true },
  { title: 'Effect', width: 'minmax(0, 1.6fr)' },
  { title: 'Priority', width: '80px', alignEnd: true },
]

/** Rules that require approval come first, then lower priorities. */
function sortRules(rules: readonly RuleSummary[]): RuleSummary[] {
  return rules.toSorted(
    (one, other) => Number(one.auto_approves) - Number(other.auto_approves) || one.priority - other.priority,
  )
}

function rowOf(rule: RuleSummary) {
  return {
    key: `${rule.section}${rule.name}`,
    faded: !rule.is_enabled,
    cells: [
      <span key="name">
        <strong>{rule.name}</strong>
        {rule.shadow && <span className={styles.badge}>shadow</span>}
        {!rule.is_enabled && <span className={styles.badge}>disabled</span>}
      </span>,
      effectText(rule),
      rule.priority,
    ],
  }
}
