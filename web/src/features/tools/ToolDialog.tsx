import { Switch, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { pipelines } from '~/api/queries'
import { putTool } from '~/api/tools'
import type { Tool, ToolEffect } from '~/api/types'
import { CheckboxList } from '~/ui/CheckboxList'
import { Code } from '~/ui/Code'
import { FormDialog } from '~/ui/FormDialog'
import { Notice } from '~/ui/Notice'
import { SelectField } from '~/ui/SelectField'
import { TextDiff } from '~/ui/TextDiff'
import { showToast } from '~/ui/toasts'
import styles from './Tools.module.css'

const EFFECTS = [
  { value: 'changes', label: 'Changes something: calls need approval' },
  { value: 'sends', label: 'Sends its arguments to a place that they choose' },
  { value: 'reads', label: 'Reads from its own place: calls need no approval' },
]
const ERRORS = [
  { value: 'unknown', label: 'Something may have been changed' },
  { value: 'failed', label: 'Nothing was changed' },
]

type Props = { tool: Tool; onClose: () => void }

/** A tool as its server offers it, what has changed since it was listed, and what it may do. */
export function ToolDialog({ tool, onClose }: Props) {
  return tool.name === 'web_search' ? (
    <SearchDialog tool={tool} onClose={onClose} />
  ) : (
    <ServerToolDialog tool={tool} onClose={onClose} />
  )
}

function ServerToolDialog({ tool, onClose }: Props) {
  const client = useQueryClient()
  const grant = tool.grant
  const [effect, setEffect] = useState<ToolEffect>(grant?.effect ?? 'changes')
  const [hosts, setHosts] = useState((grant?.hosts ?? []).join(', '))
  const [urlArgument, setUrlArgument] = useState(grant?.url_argument ?? '')
  const [maySkip, setMaySkip] = useState(grant?.may_skip_approval ?? false)
  const [errors, setErrors] = useState<string>(grant?.error_outcome ?? 'unknown')
  const sends = effect === 'sends'
  const save = async () => {
    await putTool(tool.name, {
      effect,
      digest: tool.digest,
      hosts: sends ? listOf(hosts) : [],
      url_argument: sends && urlArgument.trim() !== '' ? urlArgument.trim() : null,
      may_skip_approval: maySkip,
      error_outcome: errors === 'failed' ? 'failed' : 'unknown',
    })
    await client.invalidateQueries({ queryKey: ['tools'] })
    showToast(`Listed ${tool.name}.`)
    onClose()
  }
  return (
    <FormDialog
      title={tool.name}
      opened
      wide
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save tool"
      errorTitle="Couldn't save the tool."
      onSubmit={save}
    >
      {tool.changes.map((change) => (
        <div key={change.field}>
          <p>
            <strong>The {change.field} has changed.</strong>
          </p>
          {change.before !== null && (
            <TextDiff before={textOf(change.before)} after={textOf(change.after)} name={change.field} />
          )}
        </div>
      ))}
      <p className={styles.detail}>{tool.server}</p>
      <Code text={tool.description} label="Description" wrap />
      <Code text={textOf(tool.input_schema)} label="Arguments" />
      {tool.unpinned !== null && <Notice tone="ochre" title={tool.unpinned} />}
      <SelectField
        label="Effect"
        value={effect}
        options={EFFECTS}
        onChange={(value) => setEffect(value as ToolEffect)}
      />
      {sends && (
        <>
          <TextInput
            label="Hosts without approval (optional)"
            description="Such as api.example.com or *.example.com, separated by commas."
            value={hosts}
            onChange={(event) => setHosts(event.currentTarget.value)}
          />
          <TextInput
            label="Argument with the URL"
            value={urlArgument}
            onChange={(event) => setUrlArgument(event.currentTarget.value)}
          />
        </>
      )}
      {effect === 'changes' && (
        <SelectField
          label="If a call returns an error"
          value={errors}
          options={ERRORS}
          onChange={setErrors}
        />
      )}
      <Switch
        label="Allow checkpoints to skip approval"
        description="Where a checkpoint sets tool_approval to never. Rules that require approval still apply."
        checked={maySkip}
        onChange={(event) => setMaySkip(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}

function SearchDialog({ tool, onClose }: Props) {
  const client = useQueryClient()
  const { data } = useQuery(pipelines())
  const [ids, setIds] = useState<string[]>(tool.grant?.pipelines ?? [])
  return (
    <FormDialog
      title="Web search"
      opened
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save tool"
      errorTitle="Couldn't save the tool."
      onSubmit={async () => {
        await putTool(tool.name, { effect: 'sends', pipelines: ids })
        await client.invalidateQueries({ queryKey: ['tools'] })
        onClose()
      }}
    >
      <p>The model provider searches by itself, and Cairn can't see what it sends.</p>
      <CheckboxList
        label="Pipelines that may use it"
        options={(data?.items ?? []).map((item) => ({ value: item.pipeline_id, label: item.pipeline_name }))}
        value={ids}
        onChange={setIds}
      />
    </FormDialog>
  )
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
