import { useQuery, useQueryClient } from '@tanstack/react-query'
import { revertPipeline } from '~/api/commands'
import { definitionDiff, definitionHistory } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { RevisionChange, RevisionHistory } from '~/ui/RevisionHistory'
import { showToast } from '~/ui/toasts'

/** All saved revisions with their changes. */
export function DefinitionHistory({ pipeline, canRevert }: { pipeline: Pipeline; canRevert: boolean }) {
  const { data, error, refetch } = useQuery(definitionHistory(pipeline.pipeline_id))
  if (error !== null)
    return <LoadError title="Couldn't load the history." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading history" />
  return (
    <RevisionHistory items={data.items} current={pipeline.revision}>
      {({ revision }) => (
        <Revision key={revision} pipeline={pipeline} revision={revision} canRevert={canRevert} />
      )}
    </RevisionHistory>
  )
}

type Props = { pipeline: Pipeline; revision: number; canRevert: boolean }

function Revision({ pipeline, revision, canRevert }: Props) {
  const client = useQueryClient()
  const { pipeline_id: id } = pipeline
  const diff = useQuery({ ...definitionDiff(id, revision - 1, revision), enabled: revision > 1 })
  const revert = async () => {
    try {
      const saved = await revertPipeline(id, revision)
      showToast(`Restored revision ${revision} as revision ${saved.revision}.`)
    } finally {
      await client.invalidateQueries({ queryKey: ['pipeline', id] })
    }
  }
  return (
    <RevisionChange
      revision={revision}
      firstTitle="Initial definition"
      diff={diff}
      onRevert={canRevert && revision !== pipeline.revision ? revert : undefined}
    />
  )
}
