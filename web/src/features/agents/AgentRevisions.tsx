import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { agentRevisions, saveAgent } from '~/api/agents'
import type { LibraryAgent, LibraryAgentRevision } from '~/api/types'
import { formatValue } from '~/lib/json'
import { LoadingText } from '~/ui/Loading'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { RevisionHistory } from '~/ui/RevisionHistory'
import { TextDiff } from '~/ui/TextDiff'
import { showToast } from '~/ui/toasts'
import styles from './Agents.module.css'

/** All saved revisions of an agent. Runs keep the revision they started with. */
export function AgentRevisions({ agent, canRevert }: { agent: LibraryAgent; canRevert: boolean }) {
  const { data, error, refetch } = useQuery(agentRevisions(agent.name))
  if (error !== null)
    return <LoadError title="Couldn't load revisions." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={4} />
  if (data.items.length === 0)
    return <p className={styles.muted}>No changes. This is the built-in version.</p>
  const items = data.items.map((item) => ({
    ...item,
    comment: item.document === null ? 'Deleted' : null,
  }))
  return (
    <RevisionHistory items={items} current={agent.revision}>
      {(revision) => (
        <AgentRevisionChange
          key={revision.revision}
          agent={agent}
          revision={revision}
          before={data.items.find((item) => item.revision === revision.revision - 1)}
          canRevert={canRevert}
        />
      )}
    </RevisionHistory>
  )
}

type ChangeProps = {
  agent: LibraryAgent
  revision: LibraryAgentRevision
  before: LibraryAgentRevision | undefined
  canRevert: boolean
}

function AgentRevisionChange({ agent, revision, before, canRevert }: ChangeProps) {
  const client = useQueryClient()
  const text = (item: LibraryAgentRevision | undefined) =>
    item?.document == null ? '' : `${formatValue(item.document)}\n`
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => saveAgent(agent.name, text(revision), agent.revision),
    onSuccess: (saved) => showToast(`Restored revision ${revision.revision} of ${saved.title}.`),
    onSettled: () => void client.invalidateQueries({ queryKey: ['agents'] }),
  })
  return (
    <section aria-label={`Revision ${revision.revision}`} className={styles.change}>
      {error !== null && <ProblemNotice title="Couldn't restore the revision." error={error} />}
      <TextDiff before={text(before)} after={text(revision)} name={`revision ${revision.revision}`} />
      {canRevert && revision.document !== null && revision.revision !== agent.revision && (
        <div>
          <Button loading={isPending} onClick={() => mutate()}>
            Restore revision {revision.revision}
          </Button>
        </div>
      )}
    </section>
  )
}
