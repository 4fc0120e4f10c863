import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ruleDiff, ruleVersions, type Scope, saveRules } from '~/api/rules'
import type { RuleText } from '~/api/types'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { RevisionChange, RevisionHistory } from '~/ui/RevisionHistory'
import { showToast } from '~/ui/toasts'

type Props = { scope: Scope; stored: RuleText; canRevert: boolean }

/** All published versions of the rules with their changes. */
export function RuleVersions({ scope, stored, canRevert }: Props) {
  const { data, error, refetch } = useQuery(ruleVersions(scope))
  if (error !== null)
    return <LoadError title="Couldn't load versions." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading versions" />
  if (data.items.length === 0) return <EmptyState title="No versions yet" />
  return (
    <RevisionHistory items={data.items} current={stored.revision} noun="version">
      {({ revision, text }) => (
        <RuleVersionChange
          key={revision}
          scope={scope}
          stored={stored}
          revision={revision}
          text={canRevert && revision !== stored.revision ? text : null}
        />
      )}
    </RevisionHistory>
  )
}

type VersionProps = { scope: Scope; stored: RuleText; revision: number; text: string | null }

function RuleVersionChange({ scope, stored, revision, text }: VersionProps) {
  const client = useQueryClient()
  const diff = useQuery({ ...ruleDiff(scope, revision - 1, revision), enabled: revision > 1 })
  const revert = async (ruleText: string) => {
    try {
      const saved = await saveRules(scope, ruleText, stored.revision, `Restored version ${revision}`)
      showToast(`Restored version ${revision} as version ${saved.revision}.`)
    } finally {
      await client.invalidateQueries({ queryKey: ['rules'] })
    }
  }
  return (
    <RevisionChange
      revision={revision}
      noun="version"
      firstTitle="Initial rules"
      diff={diff}
      onRevert={text === null ? undefined : () => revert(text)}
    />
  )
}
