import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { pipelineRuns } from '~/api/queries'
import type { Pipeline } from '~/api/types'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingRows } from '~/ui/Loading'
import { Panel, Section } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { RunRows } from '~/ui/RunRows'

/** The runs of the current definition, newest first. Rolled back runs are shown on request. */
export function PipelineRuns({ pipeline }: { pipeline: Pipeline }) {
  const [showAll, setShowAll] = useState(false)
  const { data, error, refetch } = useQuery(pipelineRuns(pipeline.pipeline_id, showAll))
  return (
    <Section
      title="Runs"
      count={data?.items.length}
      aside={
        <Checkbox
          size="xs"
          label="Include rolled back and test runs"
          checked={showAll}
          onChange={(event) => setShowAll(event.currentTarget.checked)}
        />
      }
    >
      {error !== null ? (
        <LoadError title="Couldn't load runs." error={error} retry={() => void refetch()} />
      ) : (
        <Panel>
          {data === undefined ? (
            <LoadingRows rows={3} label="Loading runs" />
          ) : data.items.length === 0 ? (
            <EmptyState title="No runs yet">The first run will be v1.</EmptyState>
          ) : (
            <RunRows runs={data.items} showPipeline={false} />
          )}
        </Panel>
      )}
    </Section>
  )
}
