import { Button, Tabs } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { createFromTemplate, createPipeline } from '~/api/changes'
import { templates } from '~/api/queries'
import type { Pipeline, Template } from '~/api/types'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { asProblem } from '~/lib/problems'
import { Empty } from '~/ui/Empty'
import { Failure, Refusal } from '~/ui/Failure'
import { LoadingText } from '~/ui/Loading'
import { Page } from '~/ui/Page'
import { tell } from '~/ui/toasts'
import { DefinitionEditor } from './DefinitionEditor'
import styles from './New.module.css'

const route = getRouteApi('/pipelines/new')
const KEY = draftKey('new', 0, 'definition')

/** A new pipeline, from a template or written in YAML. What is written survives a reload. */
export function NewPage() {
  const { from } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [text, setText] = useState(() => String(readDraft(sessionStorage, KEY)?.text ?? ''))
  const [busy, setBusy] = useState<string | null>(null)
  const [refusal, setRefusal] = useState<unknown>(null)

  const write = (next: string) => {
    setText(next)
    setRefusal(null)
    keepDraft(sessionStorage, KEY, { text: next })
  }
  const create = async (name: string, make: () => Promise<Pipeline>) => {
    setBusy(name)
    setRefusal(null)
    try {
      const pipeline = await make()
      if (name === '') dropDraft(sessionStorage, KEY)
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      tell(`${pipeline.pipeline_name} is created.`)
      await navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline.pipeline_id } })
    } catch (error) {
      setRefusal(error)
      setBusy(null)
    }
  }
  return (
    <Page title="New pipeline" crumbs={[{ label: 'Pipelines', link: { to: '/pipelines' } }]}>
      <h1>New pipeline</h1>
      <Tabs
        value={from ?? 'template'}
        onChange={(value) =>
          void navigate({ search: value === 'yaml' ? { from: 'yaml' } : {}, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List className={styles.tabs}>
          <Tabs.Tab value="template">From a template</Tabs.Tab>
          <Tabs.Tab value="yaml">Write YAML</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="template">
          {refusal !== null && <Refusal title="The pipeline was not created." error={refusal} />}
          <Templates
            busy={busy}
            onUse={(template) => void create(template.name, () => createFromTemplate(template.name))}
            onEdit={(template) => {
              write(template.text)
              void navigate({ search: { from: 'yaml' } })
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <DefinitionEditor
            text={text}
            onChange={write}
            extra={
              refusal === null
                ? []
                : asProblem(refusal).errors.map((fault) => ({ ...fault, severity: 'error' }))
            }
            foot={
              <div className={styles.foot}>
                {refusal !== null && <Refusal title="The pipeline was not created." error={refusal} />}
                <Button
                  variant="filled"
                  leftSection={<IconPlus size={16} />}
                  disabled={text.trim() === ''}
                  loading={busy === ''}
                  onClick={() => void create('', () => createPipeline(text))}
                >
                  Create the pipeline
                </Button>
              </div>
            }
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

type TemplatesProps = {
  busy: string | null
  onUse: (template: Template) => void
  onEdit: (template: Template) => void
}

function Templates({ busy, onUse, onEdit }: TemplatesProps) {
  const { data, error, refetch } = useQuery(templates())
  if (error !== null)
    return <Failure what="The templates could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  if (data.items.length === 0)
    return <Empty title="No templates here">Write a definition in YAML instead.</Empty>
  return (
    <ul className={styles.templates}>
      {data.items.map((template, index) => (
        <li key={template.name}>
          <h2>{template.title}</h2>
          <p>{template.description}</p>
          <div className={styles.buttons}>
            <Button
              variant={index === 0 ? 'filled' : 'default'}
              loading={busy === template.name}
              onClick={() => onUse(template)}
              aria-label={`Use it: ${template.title}`}
            >
              Use it
            </Button>
            <Button
              variant="subtle"
              onClick={() => onEdit(template)}
              aria-label={`Change it first: ${template.title}`}
            >
              Change it first
            </Button>
          </div>
        </li>
      ))}
    </ul>
  )
}
