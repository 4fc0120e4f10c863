import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { pipelineRuns } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { Empty } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Panel, Section } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import { RunRows } from '~/ui/RunRows'

/** The runs of the current definition, the newest first; those that a rollback took away on request. */
export function Runs({ pipeline }: { pipeline: Pipeline }) {
  const [all, setAll] = useState(false)
  const { data, error, refetch } = useQuery(pipelineRuns(pipeline.pipeline_id, all))
  return (
    <Section
      title="Runs"
      count={data?.items.length}
      aside={
        <Checkbox
          size="xs"
          label="Also rolled back and test runs"
          checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      }
    >
      {error !== null ? (
        <Failure what="The runs could not be read." error={error} retry={() => void refetch()} />
      ) : (
        <Panel>
          {data === undefined ? (
            <LoadingRows rows={3} label="Loading runs" />
          ) : data.items.length === 0 ? (
            <Empty title="Never run">The first run will be v1.</Empty>
          ) : (
            <RunRows runs={data.items} named={false} />
          )}
        </Panel>
      )}
    </Section>
  )
}
