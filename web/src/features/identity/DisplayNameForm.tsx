import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changeMe } from '~/api/identity'
import { useSession } from '~/api/session'
import { Section } from '~/ui/Page'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './Account.module.css'

/** How one is shown; the name itself stays, as decisions carry it. */
export function ShownAs() {
  const client = useQueryClient()
  const { actor, display_name } = useSession()
  const [shown, setShown] = useState(display_name)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefusal(null)
    try {
      const { display_name: kept } = await changeMe(shown.trim())
      setShown(kept)
      tell(`You are shown as ${kept}.`)
      void client.invalidateQueries({ queryKey: ['session'] })
      void client.invalidateQueries({ queryKey: ['people'] })
    } catch (error) {
      setRefusal(error)
    }
    setBusy(false)
  }
  return (
    <Section title="How you are shown">
      <form className={styles.form} onSubmit={submit}>
        <TextInput
          label="Shown as"
          description={`Beside your name, ${actor}, which stays.`}
          value={shown}
          maxLength={200}
          onChange={(event) => setShown(event.currentTarget.value)}
        />
        {refusal !== null && <Refusal title="You are shown as before." error={refusal} />}
        <Button type="submit" loading={busy} disabled={shown.trim() === display_name}>
          Show me so
        </Button>
      </form>
    </Section>
  )
}
