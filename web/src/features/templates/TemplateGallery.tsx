import { Button, TextInput } from '@mantine/core'
import { IconSearch, IconUserCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createFromTemplate } from '~/api/commands'
import { templates } from '~/api/queries'
import { useRoles } from '~/api/session'
import type { Template } from '~/api/types'
import { draftKey, saveDraft } from '~/lib/drafts'
import { formatValue } from '~/lib/json'
import { canEdit, modeLabel } from '~/lib/states'
import { filterTemplates, USE_LABELS } from '~/lib/templates'
import { EmptyState } from '~/ui/EmptyState'
import { LoadingText } from '~/ui/Loading'
import { ModeIcon } from '~/ui/ModeIcon'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { SelectField } from '~/ui/SelectField'
import { showToast } from '~/ui/toasts'
import styles from './TemplateGallery.module.css'

/** The built-in pipeline templates with their checkpoints. */
export function TemplateGallery({ onEdit }: { onEdit: (template: Template) => void }) {
  const { data, error, refetch } = useQuery(templates())
  const [search, setSearch] = useState('')
  const [uses, setUses] = useState('')
  const { busy, createError, create } = useCreateFromTemplate()
  if (error !== null)
    return <LoadError title="Couldn't load templates." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  if (data.items.length === 0)
    return <EmptyState title="No templates">Write a definition in YAML instead.</EmptyState>
  const found = filterTemplates(data.items, search, uses)
  return (
    <>
      {createError !== null && <ProblemNotice title="Couldn't create the pipeline." error={createError} />}
      <div className={styles.filters}>
        <TextInput
          aria-label="Search templates"
          placeholder="Search templates"
          leftSection={<IconSearch size={15} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <SelectField
          label="Uses"
          value={uses}
          options={[
            { value: '', label: 'Anything' },
            ...Object.entries(USE_LABELS).map(([value, label]) => ({ value, label })),
          ]}
          onChange={setUses}
        />
      </div>
      {found.length === 0 ? (
        <EmptyState
          title="No templates found"
          action={
            <Button
              onClick={() => {
                setSearch('')
                setUses('')
              }}
            >
              Show all templates
            </Button>
          }
        />
      ) : (
        <ul className={styles.templates}>
          {found.map((template) => (
            <TemplateCard
              key={template.name}
              template={template}
              busy={busy}
              onUse={() => create(template)}
              onEdit={() => onEdit(template)}
            />
          ))}
        </ul>
      )}
    </>
  )
}

type CardProps = { template: Template; busy: string | null; onUse: () => void; onEdit: () => void }

function TemplateCard({ template, busy, onUse, onEdit }: CardProps) {
  const allowed = canEdit(useRoles())
  return (
    <li>
      <h2>{template.title}</h2>
      <p>{template.description}</p>
      <ol className={styles.steps} aria-label={`Checkpoints of ${template.title}`}>
        {template.checkpoints.map((step) => (
          <li key={step.key}>
            <ModeIcon mode={step.mode} />
            <span>
              {step.name}
              <span className="unseen">, {modeLabel(step.mode)}</span>
            </span>
            {step.requires_approval !== null && (
              <span className={styles.approved} title="Requires approval">
                <IconUserCheck size={14} stroke={1.6} aria-hidden="true" />
                <span className="unseen">, requires approval</span>
              </span>
            )}
          </li>
        ))}
      </ol>
      <p className={styles.uses}>{template.uses.map((one) => USE_LABELS[one]).join(' · ')}</p>
      {allowed && (
        <div className={styles.buttons}>
          <Button
            loading={busy === template.name}
            disabled={busy !== null && busy !== template.name}
            onClick={onUse}
            aria-label={`Use template: ${template.title}`}
          >
            Use template
          </Button>
          <Button variant="subtle" onClick={onEdit} aria-label={`Customize: ${template.title}`}>
            Customize
          </Button>
        </div>
      )}
    </li>
  )
}

/** Creates a pipeline and opens it. The sample input is prefilled in the start dialog. */
function useCreateFromTemplate() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending, variables, error } = useMutation({
    mutationFn: ({ name }: Template) => createFromTemplate(name),
    onSuccess: async ({ pipeline_id, pipeline_name, revision }, { sample_input }) => {
      if (sample_input !== null && sample_input !== undefined)
        saveDraft(sessionStorage, draftKey(pipeline_id, revision, 'start'), {
          input: formatValue(sample_input),
          prompt: '',
        })
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      showToast(`Created ${pipeline_name}.`)
      await navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline_id } })
    },
  })
  return { busy: isPending ? variables.name : null, createError: error, create: mutate }
}
