import { IconAlertTriangleFilled, IconTool } from '@tabler/icons-react'
import { type ToolCall as Call, callSubject, FINAL_RESULT_TOOL, type ToolResult } from '~/lib/conversations'
import { formatValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { type CollapseState, Collapsible } from './Collapsible'
import styles from './Collapsible.module.css'

/** A tool call. Its arguments and result can be expanded. */
export function ToolCall({
  call,
  result,
  collapse,
}: {
  call: Call
  result?: ToolResult
  collapse: CollapseState
}) {
  const isAnswer = call.name === FINAL_RESULT_TOOL
  if (isAnswer && result?.succeeded !== false)
    return <Code text={toText(call.arguments)} label="Submitted result" wrap />
  return (
    <Collapsible
      name={`call ${call.call_id}`}
      collapse={collapse}
      icon={<IconTool size={14} stroke={1.6} aria-hidden="true" />}
      title={isAnswer ? 'Invalid result' : <code>{call.name}</code>}
      preview={callSubject(call)}
      trailing={
        result === undefined ? (
          'no result yet'
        ) : result.succeeded ? (
          resultSummary(result.content)
        ) : (
          <span className={styles.failed}>
            <IconAlertTriangleFilled size={13} aria-hidden="true" /> {isAnswer ? 'rejected' : 'failed'}
          </span>
        )
      }
    >
      <h4>{isAnswer ? 'Result' : 'Arguments'}</h4>
      <Code
        text={toText(call.arguments)}
        label={isAnswer ? 'Invalid result' : `Arguments of ${call.name}`}
        wrap
      />
      {result !== undefined && (
        <>
          <h4>{result.succeeded ? 'Result' : 'Error'}</h4>
          <Code
            text={toText(result.content)}
            label={isAnswer ? 'Validation errors' : `Result of ${call.name}`}
            wrap
          />
        </>
      )}
    </Collapsible>
  )
}

const toText = (value: unknown) => (typeof value === 'string' ? value : formatValue(value))

function resultSummary(content: unknown): string {
  if (Array.isArray(content)) return content.length === 1 ? '1 item' : `${content.length} items`
  const text = typeof content === 'string' ? content : null
  if (text === null || text === '') return 'done'
  const lines = text.trimEnd().split('\n').length
  return lines === 1 ? 'done' : `${lines} lines`
}
