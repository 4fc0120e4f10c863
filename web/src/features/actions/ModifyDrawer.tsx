import { Button, Checkbox, Drawer, SegmentedControl } from '@mantine/core'
import { IconCheck, IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import type { ActionDetail } from '~/api/types'
import type { Parameters } from '~/lib/actions'
import { pluralize } from '~/lib/formatting'
import { formatValue, jsonError } from '~/lib/json'
import { applyPatch, inputValues, parameterFields, patchFromInputs, patchFromJson } from '~/lib/parameters'
import { CodeTextarea } from '~/ui/CodeTextarea'
import styles from './ModifyDrawer.module.css'
import { ParameterChanges, RenderedText } from './ParameterChanges'
import { ParameterInput } from './ParameterInput'
import { useModificationPreview } from './useModificationPreview'

type Props = {
  approvalId: string
  action: ActionDetail
  /** The current parameters, as proposed or as modified before. */
  parameters: Parameters
  opened: boolean
  approving: boolean
  /** Why the last attempt failed. */
  notice: ReactNode
  /** Someone else decided first. */
  isDecided: boolean
  onApprove: (modified: Parameters, changeCount: number, learn: boolean) => Promise<void>
  onClose: () => void
}

/** Modifies an action before its approval, with the form and the changes side by side. */
export function ModifyDrawer(props: Props) {
  return (
    <Drawer
      opened={props.opened}
      onClose={props.onClose}
      title="Modify action"
      size={920}
      classNames={{ body: styles.body }}
    >
      <Editor {...props} />
    </Drawer>
  )
}

function Editor({ approvalId, action, parameters, approving, notice, isDecided, onApprove, onClose }: Props) {
  const fields = parameterFields(action.parameters_schema, parameters)
  const [typed, setTyped] = useState(() => inputValues(fields, parameters))
  const [text, setText] = useState<string | null>(null)
  const [learn, setLearn] = useState(false)
  const textareaRef = useRef<HTMLTextAreaElement>(null)
  const fromForm = patchFromInputs(fields, parameters, typed)
  const fromJson = text === null ? null : patchFromJson(parameters, text)
  const jsonError = fromJson !== null && 'error' in fromJson ? fromJson.error : null
  const patch = fromJson === null ? fromForm.patch : 'patch' in fromJson ? fromJson.patch : {}
  const readable = jsonError === null && (text !== null || Object.keys(fromForm.errors).length === 0)
  const preview = useModificationPreview(approvalId, patch, readable)
  const fieldErrors: Record<string, string> = text === null ? { ...preview.errors, ...fromForm.errors } : {}
  const changes = readable ? preview.diff : []
  const isValid = readable && preview.isSettled && preview.isValid

  const switchView = (view: string) => {
    if (view === 'json') setText(formatValue(applyPatch(parameters, patch)))
    else if (jsonError === null) {
      const next = applyPatch(parameters, patch)
      setTyped(inputValues(parameterFields(action.parameters_schema, parameters), next))
      setText(null)
    }
  }
  const reset = () => {
    setTyped(inputValues(fields, parameters))
    if (text !== null) setText(formatValue(parameters))
  }
  return (
    <>
      <div className={styles.columns}>
        <div className={styles.form}>
          <div className={styles.head}>
            <h3>
              Parameters of <code>{action.operation_type}</code>
            </h3>
            <SegmentedControl
              aria-label="Input format"
              value={text === null ? 'form' : 'json'}
              onChange={switchView}
              data={[
                { value: 'form', label: 'Form', disabled: jsonError !== null },
                { value: 'json', label: 'JSON' },
              ]}
            />
          </div>
          {text === null ? (
            fields.map((field) => (
              <ParameterInput
                key={field.name}
                field={field}
                value={typed[field.name] ?? ''}
                changed={field.name in fromForm.patch}
                error={fieldErrors[field.name]}
                onChange={(value) => setTyped({ ...typed, [field.name]: value })}
              />
            ))
          ) : (
            <CodeTextarea
              label="Parameters as JSON"
              value={text}
              onChange={setText}
              textareaRef={textareaRef}
              findings={jsonError === null ? [] : [{ path: '', message: jsonError, line: errorLine(text) }]}
            />
          )}
        </div>
        <div className={styles.difference} aria-live="polite">
          <div className={styles.head}>
            <h3>{changes.length === 0 ? 'No changes yet' : pluralize(changes.length, 'change')}</h3>
            {(changes.length > 0 || !readable) && (
              <Button variant="subtle" onClick={reset}>
                Reset changes
              </Button>
            )}
          </div>
          {jsonError !== null && <p className={styles.error}>{jsonError}</p>}
          <ParameterChanges changes={changes} />
          {text !== null &&
            Object.entries(preview.errors).map(([name, message]) => (
              <p key={name} className={styles.error}>
                <code>{name}</code> {message}
              </p>
            ))}
          {preview.otherErrors.map((message) => (
            <p key={message} className={styles.error}>
              {message}
            </p>
          ))}
          {readable && <RenderedText parameters={preview.parameters ?? parameters} />}
          {changes.length > 0 && (
            <Checkbox
              className={styles.learn}
              label="Use as an example for agents"
              description="Agents that propose similar actions see your changes."
              checked={learn}
              onChange={(event) => setLearn(event.currentTarget.checked)}
            />
          )}
        </div>
      </div>
      {notice && <div className={styles.notice}>{notice}</div>}
      <footer className={styles.footer}>
        <span className={styles.validity} data-fit={isValid || undefined}>
          {isValid && (
            <>
              <IconCircleCheck size={16} aria-hidden="true" /> Parameters are valid
            </>
          )}
        </span>
        <Button size="md" onClick={onClose}>
          Cancel
        </Button>
        <Button
          size="md"
          variant="filled"
          leftSection={<IconCheck size={16} aria-hidden="true" />}
          loading={approving}
          disabled={!isValid || changes.length === 0 || isDecided}
          onClick={() => void onApprove(patch, changes.length, learn)}
        >
          {changes.length === 0
            ? 'Approve with changes'
            : `Approve with ${pluralize(changes.length, 'change')}`}
        </Button>
      </footer>
    </>
  )
}

/** The line of a JSON error, if the message contains its position. */
function errorLine(text: string): number | null {
  const position = /position (\d+)/.exec(jsonError(text) ?? '')?.[1]
  return position === undefined ? null : text.slice(0, Number(position)).split('\n').length
}
