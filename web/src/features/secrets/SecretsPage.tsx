import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteSecret, rotateSecrets, secrets, setSecret } from '~/api/identity'
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

/** Passwords and keys that the server needs. Their values never come back. */
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
  const { data, error, refetch } = useQuery(secrets())
  const rotate = useMutation({
    mutationFn: rotateSecrets,
    onSuccess: ({ count: number }) => showToast(`${pluralize(number, 'secret')} encrypted anew.`),
  })
  if (error !== null)
    return <LoadError title="The secrets could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the secrets" />
  const unreadable = data.items.filter((secret) => !secret.is_readable).length
  return (
    <div className={styles.sections}>
      <h1>{data.items.length === 0 ? 'No secrets' : pluralize(data.items.length, 'secret')}</h1>
      <p className={styles.note}>
        Encrypted, never shown again, masked in logs and notices. They are named where they are needed.
      </p>
      {unreadable > 0 && (
        <Notice tone="red" title={`${pluralize(unreadable, 'secret')} cannot be read.`}>
          They were encrypted with a key that is not there. Replace them, or bring the key back.
        </Notice>
      )}
      {rotate.error !== null && <ProblemNotice title="Nothing was encrypted anew." error={rotate.error} />}
      {data.items.length === 0 ? (
        <EmptyState title="Nothing is kept secret yet" />
      ) : (
        <>
          <DataTable
            label="Secrets"
            columns={COLUMNS}
            rows={data.items.map((secret) => ({
              key: secret.name,
              cells: [
                <code key="name">{secret.name}</code>,
                secret.is_readable ? '' : 'cannot be read',
                <span key="changed">
                  {secret.changed_by}, <Time at={secret.changed_at} />
                </span>,
                <>
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
                    aria-label={`Remove ${secret.name}…`}
                  >
                    Remove…
                  </Button>
                </>,
              ],
            }))}
          />
          <div>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Encrypt all anew
            </Button>
          </div>
        </>
      )}
      <FormDialog
        title={`Remove ${deleting ?? ''}?`}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        cancelLabel="Keep the secret"
        submitLabel="Remove the secret"
        errorTitle="The secret stays."
        danger
        note="Its value cannot be brought back."
        onSubmit={async () => {
          if (deleting !== null) await deleteSecret(deleting)
          await client.invalidateQueries({ queryKey: ['people', 'secrets'] })
          setDeleting(null)
        }}
      >
        <p>What needs it fails from now on.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Name', width: 'minmax(0, 1.2fr)', untitled: true },
  { title: 'State', width: 'minmax(0, 0.6fr)' },
  { title: 'Set by', width: 'minmax(0, 1fr)' },
  { title: 'Change', width: '200px', untitled: true, alignEnd: true },
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
      cancelLabel="Leave it so"
      submitLabel="Keep the secret"
      errorTitle="Nothing was kept."
      disabled={name.trim() === '' || value === ''}
      onSubmit={async () => {
        await setSecret(name.trim(), value)
        await client.invalidateQueries({ queryKey: ['people', 'secrets'] })
        showToast(`${name.trim()} is kept.`)
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
        description="Four characters or more. It is not shown again."
        data-autofocus={existingName !== '' || undefined}
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
