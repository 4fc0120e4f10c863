import { useQuery } from '@tanstack/react-query'
import { context } from '~/api/queries'
import { compactNumber } from '~/lib/costs'
import { formatBytes } from '~/lib/formatting'
import { formatJson, formatValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './ContextView.module.css'

/** The exact context of an execution, or a preview of it. */
export function ContextView({ runId, executionId }: { runId: string; executionId: string }) {
  const { data, error, refetch } = useQuery(context(runId, executionId))
  if (error !== null)
    return <LoadError title="Couldn't load the context." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={5} />
  const prompts = [
    { title: 'System prompt', text: data.system_prompt },
    { title: 'Task prompt', text: data.task_prompt },
  ]
  return (
    <div className={styles.context}>
      <p className={styles.note}>
        {data.stored
          ? 'Saved when the execution started. '
          : 'Preview: the context is saved when the execution starts. '}
        {data.size_characters.toLocaleString('en')} characters
        {data.estimated_tokens > 0 && `, about ${compactNumber(data.estimated_tokens)} tokens`}, formatted as{' '}
        {data.content_format}.
      </p>
      {data.input !== null && data.input !== undefined && (
        <ContextSection title="Full input" open={!data.blocks.some(({ kind }) => kind === 'input')}>
          <Code text={formatValue(data.input)} label="Full input" wrap />
        </ContextSection>
      )}
      {data.blocks.map((block) => (
        <ContextSection
          key={`${block.heading}${block.artifact_name}`}
          title={block.heading}
          note={formatBytes(block.size_bytes)}
          open
        >
          {block.content === null ? (
            <p className={styles.note}>Not displayed: the content is not text or is too large.</p>
          ) : (
            <Code
              text={/^\s*[[{]/.test(block.content) ? formatJson(block.content) : block.content}
              label={block.heading}
              wrap
            />
          )}
        </ContextSection>
      ))}
      {prompts.map(
        ({ title, text }) =>
          text !== null &&
          text !== '' && (
            <ContextSection key={title} title={title}>
              <Code text={text} label={title} wrap />
            </ContextSection>
          ),
      )}
      {data.text !== '' && (
        <ContextSection title="Full context">
          <Code text={data.text} label="Full context" wrap />
        </ContextSection>
      )}
    </div>
  )
}

type PartProps = { title: string; note?: string; open?: boolean; children: React.ReactNode }

function ContextSection({ title, note, open = false, children }: PartProps) {
  return (
    <details className={styles.section} open={open}>
      <summary>
        <span>{title}</span>
        <span className={styles.note}>{note}</span>
      </summary>
      {children}
    </details>
  )
}
