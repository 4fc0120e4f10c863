import { IconAlertTriangleFilled, IconTool } from '@tabler/icons-react'
import { type ToolCall as Call, callWords, HANDS_OVER, type ToolResult } from '~/lib/conversations'
import { prettyValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { Fold, type Folds } from './Collapsible'
import styles from './Collapsible.module.css'

/** A call of a tool: its name and what it is about; arguments and result unfold. */
export function ToolCall({ call, result, folds }: { call: Call; result?: ToolResult; folds: Folds }) {
  const isAnswer = call.name === HANDS_OVER
  if (isAnswer && result?.went_well !== false)
    return <Code text={shown(call.arguments)} label="Result, as it was handed over" wrap />
  return (
    <Fold
      name={`call ${call.call_id}`}
      folds={folds}
      sign={<IconTool size={14} stroke={1.6} aria-hidden="true" />}
      title={isAnswer ? 'A result that does not fit' : <code>{call.name}</code>}
      words={callWords(call)}
      end={
        result === undefined ? (
          'no result yet'
        ) : result.went_well ? (
          sizeWords(result.content)
        ) : (
          <span className={styles.failed}>
            <IconAlertTriangleFilled size={13} aria-hidden="true" /> {isAnswer ? 'sent back' : 'failed'}
          </span>
        )
      }
    >
      <h4>{isAnswer ? 'Result' : 'Arguments'}</h4>
      <Code
        text={shown(call.arguments)}
        label={isAnswer ? 'Result that does not fit' : `Arguments of ${call.name}`}
        wrap
      />
      {result !== undefined && (
        <>
          <h4>{result.went_well ? 'Result' : 'What went wrong'}</h4>
          <Code
            text={shown(result.content)}
            label={isAnswer ? 'What does not fit' : `Result of ${call.name}`}
            wrap
          />
        </>
      )}
    </Fold>
  )
}

const shown = (value: unknown) => (typeof value === 'string' ? value : prettyValue(value))

function sizeWords(content: unknown): string {
  if (Array.isArray(content)) return content.length === 1 ? '1 item' : `${content.length} items`
  const text = typeof content === 'string' ? content : null
  if (text === null || text === '') return 'done'
  const lines = text.trimEnd().split('\n').length
  return lines === 1 ? 'done' : `${lines} lines`
}
