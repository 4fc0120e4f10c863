import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { updateProfile } from '~/api/identity'
import { useSession } from '~/api/session'
import { Section } from '~/ui/Page'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Account.module.css'

/** Changes the display name. The username never changes, because decisions refer to it. */
export function DisplayNameForm() {
  const client = useQueryClient()
  const { actor, display_name } = useSession()
  const [displayName, setDisplayName] = useState(display_name)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => updateProfile(displayName.trim()),
    onSuccess: ({ display_name: saved }) => {
      setDisplayName(saved)
      showToast(`Display name changed to ${saved}.`)
      void client.invalidateQueries({ queryKey: ['session'] })
      void client.invalidateQueries({ queryKey: ['identity'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <Section title="Display name">
      <form className={styles.form} onSubmit={submit}>
        <TextInput
          label="Display name"
          description={`Shown next to your username, ${actor}, which doesn't change.`}
          value={displayName}
          maxLength={200}
          onChange={(event) => setDisplayName(event.currentTarget.value)}
        />
        {error !== null && <ProblemNotice title="Your display name was not changed." error={error} />}
        <Button type="submit" loading={isPending} disabled={displayName.trim() === display_name}>
          Save display name
        </Button>
      </form>
    </Section>
  )
}
