import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { context } from '~/api/queries'
import type { ContextBlock } from '~/api/types'
import { formatBytes } from '~/lib/formatting'
import { formatJson } from '~/lib/json'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import styles from './ExecutionForm.module.css'

const Markdown = lazy(() => import('~/ui/Markdown'))

/** Reference material for a form: the previous version and outputs of earlier checkpoints. */
export function FormReference({ runId, executionId }: { runId: string; executionId: string }) {
  const { data } = useQuery(context(runId, executionId))
  const blocks = (data?.blocks ?? []).filter((block) => block.kind !== 'revision_feedback')
  if (blocks.length === 0) return null
  return (
    <section className={styles.reference} aria-label="Reference">
      <h3>Reference</h3>
      {blocks.map((block, index) => (
        <details
          key={`${block.kind}${block.heading}${block.artifact_name}`}
          open={index === 0 || block.kind === 'previous_version'}
        >
          <summary>
            <span>{blockTitle(block)}</span>
            <span className={styles.size}>{formatBytes(block.size_bytes)}</span>
          </summary>
          <Block block={block} />
        </details>
      ))}
    </section>
  )
}

export function blockTitle(block: ContextBlock): string {
  const name = block.artifact_name ?? block.checkpoint_name ?? block.heading
  switch (block.kind) {
    case 'previous_version':
      return `${name} from v${block.run_version}`
    case 'previous_pass':
      return `${name} from the previous pass`
    case 'checkpoint_output':
      return block.checkpoint_name === null || block.artifact_name === null
        ? name
        : `${name} from ${block.checkpoint_name}`
    case 'rework':
      if (block.artifact_name !== null) return `${name} from the requester`
      return block.heading.endsWith(', prompt') ? 'Rework instructions' : 'Reason for the rework'
    case 'revision_feedback':
      return 'Feedback'
    case 'original_prompt':
      return 'Run prompt'
    case 'input':
      return 'Input'
    case 'validation_findings':
      return 'Validation findings'
  }
}

function Block({ block }: { block: ContextBlock }) {
  if (block.content === null) return <p className={styles.note}>Too large to display.</p>
  if (looksLikeJson(block.content))
    return <Code text={formatJson(block.content)} label={blockTitle(block)} wrap />
  return (
    <Suspense fallback={<LoadingText />}>
      <Markdown>{block.content}</Markdown>
    </Suspense>
  )
}

const looksLikeJson = (text: string) => /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text)
