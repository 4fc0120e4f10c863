import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setSecretUses } from '~/api/identity'
import { pipelines } from '~/api/queries'
import type { Secret } from '~/api/types'
import { CheckboxList } from '~/ui/CheckboxList'
import { FormDialog } from '~/ui/FormDialog'
import { showToast } from '~/ui/toasts'

const ALL = '*'

/** What a secret may be used for in actions and tools. */
export function SecretUsesDialog({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const client = useQueryClient()
  const { data } = useQuery(pipelines())
  const [hosts, setHosts] = useState(secret.uses.hosts.join(', '))
  const [types, setTypes] = useState(secret.uses.action_types.join(', '))
  const [pipelineIds, setPipelineIds] = useState<string[]>(secret.uses.pipelines)
  const options = (data?.items ?? []).map((item) => ({ value: item.pipeline_id, label: item.pipeline_name }))
  const known = new Set([ALL, ...options.map((option) => option.value)])
  return (
    <FormDialog
      title={`Uses of ${secret.name}`}
      opened
      wide
      onClose={onClose}
      cancelLabel="Cancel"
      submitLabel="Save uses"
      errorTitle="Couldn't save the uses."
      note="Any other use in an action or a tool is refused."
      onSubmit={async () => {
        await setSecretUses(secret.name, {
          hosts: listOf(hosts),
          action_types: listOf(types),
          // A deleted pipeline can't be chosen again.
          pipelines: data === undefined ? pipelineIds : pipelineIds.filter((id) => known.has(id)),
        })
        await client.invalidateQueries({ queryKey: ['identity', 'secrets'] })
        showToast(`Saved uses of ${secret.name}.`)
        onClose()
      }}
    >
      <TextInput
        label="Action types"
        description="Separated by commas, such as http_request. mcp:SERVER is for the settings of an MCP server."
        data-autofocus
        autoCapitalize="off"
        spellCheck={false}
        value={types}
        onChange={(event) => setTypes(event.currentTarget.value)}
      />
      <TextInput
        label="Hosts"
        description="Separated by commas, such as api.example.com or *.example.com. Only https, unless a host starts with http://."
        autoCapitalize="off"
        spellCheck={false}
        value={hosts}
        onChange={(event) => setHosts(event.currentTarget.value)}
      />
      <CheckboxList
        label="Pipelines"
        options={[{ value: ALL, label: 'All pipelines' }, ...options]}
        value={pipelineIds}
        onChange={setPipelineIds}
      />
    </FormDialog>
  )
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
