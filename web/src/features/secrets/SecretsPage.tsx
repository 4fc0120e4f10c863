import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteSecret, rotateSecrets, secrets, setSecret } from '~/api/identity'
import type { Secret } from '~/api/types'
import { pluralize } from '~/lib/formatting'
import { AdminPage } from '~/ui/AdminPage'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { showToast } from '~/ui/toasts'
import styles from './SecretsPage.module.css'
import { SecretUsesDialog } from './SecretUsesDialog'

/** The secrets of the server. Their values are never returned. */
export function SecretsPage() {
  const [editing, setEditing] = useState<string | null>(null)
  return (
    <AdminPage
      title="Secrets"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setEditing('')}>
          New secret…
        </Button>
      }
    >
      <SecretList onReplace={setEditing} />
      {editing !== null && <SecretDialog existingName={editing} onClose={() => setEditing(null)} />}
    </AdminPage>
  )
}

function SecretList({ onReplace }: { onReplace: (name: string) => void }) {
  const client = useQueryClient()
  const [deleting, setDeleting] = useState<string | null>(null)
  const [limiting, setLimiting] = useState<Secret | null>(null)
  const { data, error, refetch } = useQuery(secrets())
  const rotate = useMutation({
    mutationFn: rotateSecrets,
    onSuccess: ({ count: number }) => showToast(`Re-encrypted ${pluralize(number, 'secret')}.`),
  })
  if (error !== null)
    return <LoadError title="Couldn't load secrets." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading secrets" />
  const unreadable = data.items.filter((secret) => !secret.is_readable).length
  return (
    <div className={styles.sections}>
      <h1>{data.items.length === 0 ? 'No secrets' : pluralize(data.items.length, 'secret')}</h1>
      <p className={styles.note}>
        Secrets are encrypted, masked in logs and notifications, and never shown again. Refer to them by name.
        Actions and tools can use a secret only as listed under its uses.
      </p>
      {unreadable > 0 && (
        <Notice tone="red" title={`${pluralize(unreadable, 'secret')} can't be decrypted.`}>
          Their encryption key is missing. Replace the secrets or restore the key.
        </Notice>
      )}
      {rotate.error !== null && (
        <ProblemNotice title="Couldn't re-encrypt the secrets." error={rotate.error} />
      )}
      {data.items.length === 0 ? (
        <EmptyState title="Store passwords and keys that the server needs" />
      ) : (
        <>
          <DataTable
            label="Secrets"
            columns={COLUMNS}
            rows={data.items.map((secret) => ({
              key: secret.name,
              cells: [
                <code key="name">{secret.name}</code>,
                secret.is_readable ? '' : "can't be decrypted",
                describeUses(secret),
                <span key="changed">
                  {secret.updated_by}, <Time at={secret.updated_at} />
                </span>,
                <>
                  <Button
                    key="uses"
                    onClick={() => setLimiting(secret)}
                    aria-label={`Edit uses of ${secret.name}…`}
                  >
                    Uses…
                  </Button>
                  <Button
                    key="put"
                    onClick={() => onReplace(secret.name)}
                    aria-label={`Replace ${secret.name}…`}
                  >
                    Replace…
                  </Button>
                  <Button
                    key="remove"
                    variant="subtle"
                    color="red"
                    onClick={() => setDeleting(secret.name)}
                    aria-label={`Delete ${secret.name}…`}
                  >
                    Delete…
                  </Button>
                </>,
              ],
            }))}
          />
          <div>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Re-encrypt all
            </Button>
          </div>
        </>
      )}
      {limiting !== null && <SecretUsesDialog secret={limiting} onClose={() => setLimiting(null)} />}
      <FormDialog
        title={`Delete ${deleting ?? ''}?`}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        cancelLabel="Cancel"
        submitLabel="Delete secret"
        errorTitle="Couldn't delete the secret."
        danger
        note="Its value can't be restored."
        onSubmit={async () => {
          if (deleting !== null) await deleteSecret(deleting)
          await client.invalidateQueries({ queryKey: ['identity', 'secrets'] })
          setDeleting(null)
        }}
      >
        <p>Anything that uses this secret will fail.</p>
      </FormDialog>
    </div>
  )
}

/** Action types, hosts and pipelines, or nothing if no use is allowed. */
function describeUses({ uses, pipeline_names }: Secret) {
  const names = uses.pipelines.map((id) =>
    id === '*' ? 'all pipelines' : (pipeline_names[id] ?? 'a deleted pipeline'),
  )
  return [uses.action_types, uses.hosts, names]
    .filter((values) => values.length > 0)
    .map((values) => values.join(', '))
    .join(' · ')
}

const COLUMNS = [
  { title: 'Name', width: 'minmax(0, 1.2fr)', untitled: true },
  { title: 'Status', width: 'minmax(0, 0.6fr)' },
  { title: 'Uses', width: 'minmax(0, 1.4fr)' },
  { title: 'Set by', width: 'minmax(0, 1fr)' },
  { title: 'Edit', width: '270px', untitled: true, alignEnd: true },
]

function SecretDialog({ existingName, onClose }: { existingName: string; onClose: () => void }) {
  const client = useQueryClient()
  const [name, setName] = useState(existingName)
  const [value, setValue] = useState('')
  return (
    <FormDialog
      title={existingName === '' ? 'New secret' : `Replace ${existingName}`}
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save secret"
      errorTitle="Couldn't save the secret."
      disabled={name.trim() === '' || value === ''}
      onSubmit={async () => {
        await setSecret(name.trim(), value)
        await client.invalidateQueries({ queryKey: ['identity', 'secrets'] })
        showToast(`Saved secret ${name.trim()}.`)
        onClose()
      }}
    >
      {existingName === '' && (
        <TextInput
          label="Name"
          data-autofocus
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <PasswordInput
        label="Value"
        description="At least four characters. The value is not shown again."
        data-autofocus={existingName !== '' || undefined}
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
