import { useQuery, useQueryClient } from '@tanstack/react-query'
import { revertPipeline } from '~/api/commands'
import { difference, history } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { LoadingRows } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { Change, Revisions } from '~/ui/RevisionHistory'
import { tell } from '~/ui/toasts'

/** Every saved revision, what it changed, and the way back to it. */
export function History({ pipeline, mayRevert }: { pipeline: Pipeline; mayRevert: boolean }) {
  const { data, error, refetch } = useQuery(history(pipeline.pipeline_id))
  if (error !== null)
    return <Failure what="The history could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the history" />
  return (
    <Revisions items={data.items} current={pipeline.revision}>
      {({ revision }) => (
        <Revision key={revision} pipeline={pipeline} revision={revision} mayRevert={mayRevert} />
      )}
    </Revisions>
  )
}

type Props = { pipeline: Pipeline; revision: number; mayRevert: boolean }

function Revision({ pipeline, revision, mayRevert }: Props) {
  const client = useQueryClient()
  const { pipeline_id: id } = pipeline
  const diff = useQuery({ ...difference(id, revision - 1, revision), enabled: revision > 1 })
  const revert = async () => {
    try {
      const saved = await revertPipeline(id, revision)
      tell(`Revision ${saved.revision} is again what revision ${revision} was.`)
    } finally {
      await client.invalidateQueries({ queryKey: ['pipeline', id] })
    }
  }
  return (
    <Change
      revision={revision}
      first="The first definition"
      diff={diff}
      onRevert={mayRevert && revision !== pipeline.revision ? revert : undefined}
    />
  )
}
