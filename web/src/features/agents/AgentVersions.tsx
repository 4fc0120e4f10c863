import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { agentRevisions, saveAgent } from '~/api/agents'
import type { LibraryAgent, LibraryAgentRevision } from '~/api/types'
import { prettyValue } from '~/lib/json'
import { LoadingText } from '~/ui/Loading'
import { Failure, Refusal } from '~/ui/ProblemNotice'
import { Revisions } from '~/ui/RevisionHistory'
import { ComparedText } from '~/ui/TextDiff'
import { tell } from '~/ui/toasts'
import styles from './Agents.module.css'

/** Every revision that people saved, with what it changed. Runs keep the one they began with. */
export function Versions({ agent, mayRevert }: { agent: LibraryAgent; mayRevert: boolean }) {
  const { data, error, refetch } = useQuery(agentRevisions(agent.name))
  if (error !== null)
    return <Failure what="The versions could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={4} />
  if (data.items.length === 0)
    return <p className={styles.quiet}>Nobody has changed it: it is as it came with Cairn.</p>
  const items = data.items.map((item) => ({
    ...item,
    author: item.changed_by,
    created_at: item.changed_at,
    comment: item.document === null ? 'Removed' : null,
  }))
  return (
    <Revisions items={items} current={agent.revision}>
      {(shown) => (
        <Change
          key={shown.revision}
          agent={agent}
          shown={shown}
          before={data.items.find((item) => item.revision === shown.revision - 1)}
          mayRevert={mayRevert}
        />
      )}
    </Revisions>
  )
}

type ChangeProps = {
  agent: LibraryAgent
  shown: LibraryAgentRevision
  before: LibraryAgentRevision | undefined
  mayRevert: boolean
}

function Change({ agent, shown, before, mayRevert }: ChangeProps) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const text = (one: LibraryAgentRevision | undefined) =>
    one?.document == null ? '' : `${prettyValue(one.document)}\n`
  const revert = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const saved = await saveAgent(agent.name, text(shown), agent.revision)
      tell(`${saved.title} is as it was at revision ${shown.revision}.`)
    } catch (error) {
      setRefusal(error)
    } finally {
      setBusy(false)
      void client.invalidateQueries({ queryKey: ['agents'] })
    }
  }
  return (
    <section aria-label={`Revision ${shown.revision}`} className={styles.change}>
      {refusal !== null && <Refusal title="Nothing was changed." error={refusal} />}
      <ComparedText before={text(before)} after={text(shown)} of={`revision ${shown.revision}`} />
      {mayRevert && shown.document !== null && shown.revision !== agent.revision && (
        <div>
          <Button loading={busy} onClick={() => void revert()}>
            Put revision {shown.revision} in force again
          </Button>
        </div>
      )}
    </section>
  )
}
