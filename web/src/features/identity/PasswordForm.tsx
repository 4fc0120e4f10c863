import { Button, PasswordInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changePassword } from '~/api/identity'
import { useSession } from '~/api/session'
import { Section } from '~/ui/Page'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Account.module.css'

const MIN_LENGTH = 12

/** Changes the password of the current user, which ends all other sessions. */
export function PasswordForm() {
  const client = useQueryClient()
  const { has_password: hasOne, actor } = useSession()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => changePassword(current, password),
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      showToast('Password saved. Your other sessions were ended.')
      void client.invalidateQueries({ queryKey: ['session'] })
      void client.invalidateQueries({ queryKey: ['identity', 'sessions'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <Section title="Password">
      <form className={styles.form} onSubmit={submit}>
        <input type="hidden" name="username" autoComplete="username" value={actor} readOnly />
        {hasOne && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            value={current}
            required
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label="New password"
          description={`At least ${MIN_LENGTH} characters.`}
          autoComplete="new-password"
          minLength={MIN_LENGTH}
          value={password}
          required
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {error !== null && <ProblemNotice title="Your password was not changed." error={error} />}
        <Button type="submit" loading={isPending}>
          {hasOne ? 'Change password' : 'Set password'}
        </Button>
      </form>
    </Section>
  )
}
