import { Switch, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { putActionType } from '~/api/actionTypes'
import type { ActionType, PutActionTypeRequest } from '~/api/types'
import { FormDialog } from '~/ui/FormDialog'
import { SelectField } from '~/ui/SelectField'
import { showToast } from '~/ui/toasts'

type Effect = ActionType['effect']
type Risk = ActionType['risk_level']

const RISKS = [
  { value: 'low', label: 'Low: needs no approval without a rule' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
  { value: 'critical', label: 'Critical' },
]
const EFFECTS = [
  { value: 'changes', label: 'Changes something' },
  { value: 'sends', label: 'Sends its parameters to others' },
  { value: 'reads', label: 'Reads from places that you trust' },
]

/** Creates an action type, or changes one. What Cairn sends itself keeps its schema and its effect. */
export function ActionTypeDialog({ type, onClose }: { type: ActionType | null; onClose: () => void }) {
  const client = useQueryClient()
  const sentByCairn = type?.executed_by === 'cairn'
  const [name, setName] = useState(type?.name ?? '')
  const [title, setTitle] = useState(type?.title_template ?? '')
  const [description, setDescription] = useState(type?.description ?? '')
  const [risk, setRisk] = useState<Risk>(type?.risk_level ?? 'high')
  const [effect, setEffect] = useState<Effect>(type?.effect ?? 'changes')
  const [hosts, setHosts] = useState((type?.hosts ?? []).join(', '))
  const [identity, setIdentity] = useState((type?.identity ?? []).join(', '))
  const [amount, setAmount] = useState(type?.amount ?? '')
  const [currency, setCurrency] = useState(type?.currency ?? '')
  const [idempotent, setIdempotent] = useState(type?.idempotent ?? false)
  const [schema, setSchema] = useState(
    type?.parameters_schema == null ? '' : JSON.stringify(type.parameters_schema, null, 2),
  )
  const parsed = parseSchema(schema)
  const save = async () => {
    const body: PutActionTypeRequest = {
      ...type?.declaration,
      title: title.trim(),
      description: description.trim(),
      risk_level: risk,
      hosts: hosts.trim() === '' ? null : listOf(hosts),
      identity: identity.trim() === '' ? null : listOf(identity),
      amount: amount.trim() || null,
      currency: currency.trim() || null,
      idempotent,
      ...(sentByCairn ? {} : { effect, schema: parsed ?? null }),
    }
    await putActionType(name.trim(), body)
    await client.invalidateQueries({ queryKey: ['action-types'] })
    showToast(`Saved action type ${name.trim()}.`)
    onClose()
  }
  return (
    <FormDialog
      title={type === null ? 'New action type' : `Edit ${type.name}`}
      opened
      wide
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save action type"
      errorTitle="Couldn't save the action type."
      disabled={name.trim() === '' || parsed === undefined}
      onSubmit={save}
    >
      {type === null && (
        <TextInput
          label="Name"
          description="As agents and scripts propose it: a-z, 0-9 and _ . : / -"
          data-autofocus
          autoCapitalize="off"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <TextInput
        label="Title of its approvals (optional)"
        description="Such as Refund {{ amount }}[ to {{ account }}]. Text in brackets is left out if a parameter is missing."
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <TextInput
        label="Description (optional)"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <SelectField
        label="Lowest risk"
        value={risk}
        options={RISKS}
        onChange={(value) => setRisk(value as Risk)}
      />
      {!sentByCairn && (
        <SelectField
          label="Effect"
          value={effect}
          options={EFFECTS}
          onChange={(value) => setEffect(value as Effect)}
        />
      )}
      <TextInput
        label="Hosts (optional)"
        description="Where its requests and emails can go, separated by commas. Only https, unless a host starts with http://. Empty: anywhere."
        value={hosts}
        onChange={(event) => setHosts(event.currentTarget.value)}
      />
      <TextInput
        label="Identity (optional)"
        description="Parameters that make two actions the same, separated by commas. Empty: all parameters."
        value={identity}
        onChange={(event) => setIdentity(event.currentTarget.value)}
      />
      <TextInput
        label="Parameter with the amount (optional)"
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <TextInput
        label="Parameter with the currency (optional)"
        value={currency}
        onChange={(event) => setCurrency(event.currentTarget.value)}
      />
      {!sentByCairn && (
        <Textarea
          label="JSON Schema of the parameters (optional)"
          description="Parameters that it doesn't name are refused. Empty: any parameters."
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={false}
          error={parsed === undefined ? 'Invalid JSON' : undefined}
          value={schema}
          onChange={(event) => setSchema(event.currentTarget.value)}
        />
      )}
      <Switch
        label="Its receiver ignores a repeated Idempotency-Key"
        description="Then Cairn sends a request again if its outcome is unknown."
        checked={idempotent}
        onChange={(event) => setIdempotent(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}

/** The schema, null if there is none, or undefined if the text is not JSON. */
function parseSchema(text: string): PutActionTypeRequest['schema'] | undefined {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
