import { useQuery } from '@tanstack/react-query'
import { context } from '~/api/queries'
import { short } from '~/lib/costs'
import { size } from '~/lib/formatting'
import { prettyJson, prettyValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import styles from './ContextView.module.css'

/** Exactly what the execution was given, or will be. */
export function ContextView({ runId, executionId }: { runId: string; executionId: string }) {
  const { data, error, refetch } = useQuery(context(runId, executionId))
  if (error !== null)
    return <Failure what="The context could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText lines={5} />
  const parts = [
    { title: 'System prompt', text: data.system_prompt },
    { title: 'Task prompt', text: data.task_prompt },
  ]
  return (
    <div className={styles.context}>
      <p className={styles.note}>
        {data.stored
          ? 'Stored with the execution when it started. '
          : 'A preview: it is stored when the execution starts. '}
        {data.size_characters.toLocaleString('en')} characters
        {data.estimated_tokens > 0 && `, about ${short(data.estimated_tokens)} tokens`}, laid out as{' '}
        {data.content_format}.
      </p>
      {data.input !== null && data.input !== undefined && (
        <Part title="All of its input" open={!data.blocks.some(({ kind }) => kind === 'input')}>
          <Code text={prettyValue(data.input)} label="All of its input" wrap />
        </Part>
      )}
      {data.blocks.map((block) => (
        <Part
          key={`${block.heading}${block.artifact_name}`}
          title={block.heading}
          note={size(block.size_bytes)}
          open
        >
          {block.content === null ? (
            <p className={styles.note}>Not shown: it is not text, or it is too large.</p>
          ) : (
            <Code
              text={/^\s*[[{]/.test(block.content) ? prettyJson(block.content) : block.content}
              label={block.heading}
              wrap
            />
          )}
        </Part>
      ))}
      {parts.map(
        ({ title, text }) =>
          text !== null &&
          text !== '' && (
            <Part key={title} title={title}>
              <Code text={text} label={title} wrap />
            </Part>
          ),
      )}
      {data.text !== '' && (
        <Part title="Everything as laid out">
          <Code text={data.text} label="Everything as laid out" wrap />
        </Part>
      )}
    </div>
  )
}

type PartProps = { title: string; note?: string; open?: boolean; children: React.ReactNode }

function Part({ title, note, open = false, children }: PartProps) {
  return (
    <details className={styles.part} open={open}>
      <summary>
        <span>{title}</span>
        <span className={styles.note}>{note}</span>
      </summary>
      {children}
    </details>
  )
}
