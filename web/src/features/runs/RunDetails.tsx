import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { runInput } from '~/api/queries'
import type { Run } from '~/api/types'
import { formatJson } from '~/lib/json'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './RunDetails.module.css'

/** Details of the run below its timeline. */
export function RunDetails({ run, costs }: { run: Run; costs: ReactNode }) {
  return (
    <section className={styles.details} aria-label="Run details">
      <dl>
        <div>
          <dt>Definition version</dt>
          <dd>{run.pipeline_definition_version}</dd>
        </div>
        {run.pass_number > 1 && (
          <div>
            <dt>Pass</dt>
            <dd>{run.pass_number}</dd>
          </div>
        )}
        {costs}
      </dl>
      {run.original_prompt !== null && run.original_prompt !== '' && (
        <details>
          <summary>Prompt</summary>
          <p>{run.original_prompt}</p>
        </details>
      )}
      <Input runId={run.run_id} />
    </section>
  )
}

function Input({ runId }: { runId: string }) {
  const [open, setOpen] = useState(false)
  const { data, error, refetch } = useQuery({ ...runInput(runId), enabled: open })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Input</summary>
      {error !== null ? (
        <LoadError title="Couldn't load the input." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingText lines={2} />
      ) : (
        <Code text={formatJson(data)} label="Run input" wrap />
      )}
    </details>
  )
}
