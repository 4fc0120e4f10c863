import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { putSecret, removeSecret, rotateSecrets, secrets } from '~/api/identity'
import { count } from '~/lib/formatting'
import { ForAdmins } from '~/ui/AdminPage'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import styles from './SecretsPage.module.css'

/** Passwords and keys that the server needs. Their values never come back. */
export function SecretsPage() {
  const [putting, setPutting] = useState<string | null>(null)
  return (
    <ForAdmins
      title="Secrets"
      actions={
        <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setPutting('')}>
          New secret…
        </Button>
      }
    >
      <Kept onReplace={setPutting} />
      {putting !== null && <PutDialog known={putting} onClose={() => setPutting(null)} />}
    </ForAdmins>
  )
}

function Kept({ onReplace }: { onReplace: (name: string) => void }) {
  const client = useQueryClient()
  const [removing, setRemoving] = useState<string | null>(null)
  const { data, error, refetch } = useQuery(secrets())
  const rotate = useMutation({
    mutationFn: rotateSecrets,
    onSuccess: ({ count: number }) => tell(`${count(number, 'secret')} encrypted anew.`),
  })
  if (error !== null)
    return <Failure what="The secrets could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the secrets" />
  const lost = data.items.filter((secret) => !secret.is_readable).length
  return (
    <div className={styles.parts}>
      <h1>{data.items.length === 0 ? 'No secrets' : count(data.items.length, 'secret')}</h1>
      <p className={styles.note}>
        Encrypted, never shown again, masked in logs and notices. They are named where they are needed.
      </p>
      {lost > 0 && (
        <Notice tone="red" title={`${count(lost, 'secret')} cannot be read.`}>
          They were encrypted with a key that is not there. Replace them, or bring the key back.
        </Notice>
      )}
      {rotate.error !== null && <Refusal title="Nothing was encrypted anew." error={rotate.error} />}
      {data.items.length === 0 ? (
        <Empty title="Nothing is kept secret yet" />
      ) : (
        <>
          <Sheet
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
                    onClick={() => setRemoving(secret.name)}
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
        title={`Remove ${removing ?? ''}?`}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        keep="Keep the secret"
        send="Remove the secret"
        refused="The secret stays."
        danger
        note="Its value cannot be brought back."
        onSend={async () => {
          if (removing !== null) await removeSecret(removing)
          await client.invalidateQueries({ queryKey: ['people', 'secrets'] })
          setRemoving(null)
        }}
      >
        <p>What needs it fails from now on.</p>
      </FormDialog>
    </div>
  )
}

const COLUMNS = [
  { title: 'Name', width: 'minmax(0, 1.2fr)', bare: true },
  { title: 'State', width: 'minmax(0, 0.6fr)' },
  { title: 'Set by', width: 'minmax(0, 1fr)' },
  { title: 'Change', width: '200px', bare: true, end: true },
]

function PutDialog({ known, onClose }: { known: string; onClose: () => void }) {
  const client = useQueryClient()
  const [name, setName] = useState(known)
  const [value, setValue] = useState('')
  return (
    <FormDialog
      title={known === '' ? 'New secret' : `Replace ${known}`}
      opened
      onClose={onClose}
      keep="Leave it so"
      send="Keep the secret"
      refused="Nothing was kept."
      disabled={name.trim() === '' || value === ''}
      onSend={async () => {
        await putSecret(name.trim(), value)
        await client.invalidateQueries({ queryKey: ['people', 'secrets'] })
        tell(`${name.trim()} is kept.`)
        onClose()
      }}
    >
      {known === '' && (
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
        data-autofocus={known !== '' || undefined}
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
