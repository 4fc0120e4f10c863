import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ruleDiff, ruleVersions, type Scope, saveRules } from '~/api/rules'
import type { RuleText } from '~/api/types'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { Change, Revisions } from '~/ui/RevisionHistory'
import { tell } from '~/ui/toasts'

type Props = { scope: Scope; stored: RuleText; mayRevert: boolean }

/** Every version that was in force, what it changed, and the way back to it. */
export function Versions({ scope, stored, mayRevert }: Props) {
  const { data, error, refetch } = useQuery(ruleVersions(scope))
  if (error !== null)
    return <Failure what="The versions could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the versions" />
  if (data.items.length === 0) return <Empty title="Nothing was ever saved here" />
  return (
    <Revisions items={data.items} current={stored.revision}>
      {({ revision, text }) => (
        <Version
          key={revision}
          scope={scope}
          stored={stored}
          revision={revision}
          text={mayRevert && revision !== stored.revision ? text : null}
        />
      )}
    </Revisions>
  )
}

type VersionProps = { scope: Scope; stored: RuleText; revision: number; text: string | null }

function Version({ scope, stored, revision, text }: VersionProps) {
  const client = useQueryClient()
  const diff = useQuery({ ...ruleDiff(scope, revision - 1, revision), enabled: revision > 1 })
  const revert = async (again: string) => {
    try {
      const saved = await saveRules(scope, again, stored.revision, `Back to revision ${revision}`)
      tell(`Revision ${saved.revision} is in force, and is what revision ${revision} was.`)
    } finally {
      await client.invalidateQueries({ queryKey: ['rules'] })
    }
  }
  return (
    <Change
      revision={revision}
      first="The first rules"
      diff={diff}
      onRevert={text === null ? undefined : () => revert(text)}
    />
  )
}
