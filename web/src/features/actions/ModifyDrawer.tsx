import { Button, Drawer, SegmentedControl } from '@mantine/core'
import { IconBulb, IconCheck, IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import type { ActionDetail } from '~/api/types'
import type { Parameters } from '~/lib/actions'
import { count } from '~/lib/formatting'
import { jsonFault, prettyValue } from '~/lib/json'
import { openParameters, parameterFields, patched, patchOf, patchOfText } from '~/lib/parameters'
import { LinedText } from '~/ui/CodeTextarea'
import styles from './ModifyDrawer.module.css'
import { AsRead, Changes } from './ParameterChanges'
import { ParameterInput } from './ParameterInput'
import { usePreview } from './useModificationPreview'

type Props = {
  approvalId: string
  action: ActionDetail
  /** As they stand: proposed, or changed by somebody before. */
  parameters: Parameters
  opened: boolean
  approving: boolean
  /** Why the last attempt failed. */
  notice: ReactNode
  /** Somebody else decided first. */
  isDecided: boolean
  onApprove: (modified: Parameters, changeCount: number) => Promise<void>
  onClose: () => void
}

/** Corrects an action before it is approved: form and difference side by side. */
export function Modify(props: Props) {
  return (
    <Drawer
      opened={props.opened}
      onClose={props.onClose}
      title="Modify before approving"
      size={920}
      classNames={{ body: styles.body }}
    >
      <Editor {...props} />
    </Drawer>
  )
}

function Editor({ approvalId, action, parameters, approving, notice, isDecided, onApprove, onClose }: Props) {
  const fields = parameterFields(action.parameters_schema, parameters)
  const [typed, setTyped] = useState(() => openParameters(fields, parameters))
  const [text, setText] = useState<string | null>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const fromForm = patchOf(fields, parameters, typed)
  const fromText = text === null ? null : patchOfText(parameters, text)
  const textFault = fromText !== null && 'fault' in fromText ? fromText.fault : null
  const patch = fromText === null ? fromForm.patch : 'patch' in fromText ? fromText.patch : {}
  const readable = textFault === null && (text !== null || Object.keys(fromForm.faults).length === 0)
  const preview = usePreview(approvalId, patch, readable)
  const wrong: Record<string, string> = text === null ? { ...preview.faults, ...fromForm.faults } : {}
  const changes = readable ? preview.diff : []
  const isFit = readable && preview.isSettled && preview.passed

  const show = (way: string) => {
    if (way === 'json') setText(prettyValue(patched(parameters, patch)))
    else if (textFault === null) {
      const next = patched(parameters, patch)
      setTyped(openParameters(parameterFields(action.parameters_schema, parameters), next))
      setText(null)
    }
  }
  const undo = () => {
    setTyped(openParameters(fields, parameters))
    if (text !== null) setText(prettyValue(parameters))
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
              aria-label="Write as"
              value={text === null ? 'form' : 'json'}
              onChange={show}
              data={[
                { value: 'form', label: 'Form', disabled: textFault !== null },
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
                error={wrong[field.name]}
                onChange={(value) => setTyped({ ...typed, [field.name]: value })}
              />
            ))
          ) : (
            <LinedText
              label="Parameters as JSON"
              value={text}
              onChange={setText}
              area={area}
              faults={textFault === null ? [] : [{ path: '', message: textFault, line: lineOf(text) }]}
            />
          )}
        </div>
        <div className={styles.difference} aria-live="polite">
          <div className={styles.head}>
            <h3>{changes.length === 0 ? 'No changes yet' : count(changes.length, 'change')}</h3>
            {(changes.length > 0 || !readable) && (
              <Button variant="subtle" onClick={undo}>
                Undo all
              </Button>
            )}
          </div>
          {textFault !== null && <p className={styles.fault}>{textFault}</p>}
          <Changes changes={changes} />
          {text !== null &&
            Object.entries(preview.faults).map(([name, message]) => (
              <p key={name} className={styles.fault}>
                <code>{name}</code> {message}
              </p>
            ))}
          {preview.other.map((message) => (
            <p key={message} className={styles.fault}>
              {message}
            </p>
          ))}
          {readable && <AsRead parameters={preview.parameters ?? parameters} />}
          {changes.length > 0 && (
            <p className={styles.learnt}>
              <IconBulb size={16} stroke={1.6} aria-hidden="true" />
              Kept as a learning case: whoever proposes such actions next is shown it.
            </p>
          )}
        </div>
      </div>
      {notice && <div className={styles.refused}>{notice}</div>}
      <footer className={styles.foot}>
        <span className={styles.fit} data-fit={isFit || undefined}>
          {isFit && (
            <>
              <IconCircleCheck size={16} aria-hidden="true" /> Fits the schema of the action
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
          disabled={!isFit || changes.length === 0 || isDecided}
          onClick={() => void onApprove(patch, changes.length)}
        >
          {changes.length === 0 ? 'Approve with changes' : `Approve with ${count(changes.length, 'change')}`}
        </Button>
      </footer>
    </>
  )
}

/** The line that a fault of JSON stands at, as far as it can be told. */
function lineOf(text: string): number | null {
  const position = /position (\d+)/.exec(jsonFault(text) ?? '')?.[1]
  return position === undefined ? null : text.slice(0, Number(position)).split('\n').length
}
