import { Button, Tabs } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { createPipeline } from '~/api/commands'
import { DefinitionEditor } from '~/features/definitions/DefinitionEditor'
import { Gallery } from '~/features/templates/TemplateGallery'
import { dropNew, keepNew, readNew } from '~/lib/newPipelineDraft'
import { asProblem } from '~/lib/problems'
import { Page } from '~/ui/Page'
import { Refusal } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './NewPipelinePage.module.css'

const route = getRouteApi('/pipelines/new')

/** A new pipeline, from a template or written in YAML. What is written survives a reload. */
export function NewPage() {
  const { from } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [text, setText] = useState(readNew)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)

  const write = (next: string) => {
    setText(next)
    setRefusal(null)
    keepNew(next)
  }
  const create = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const pipeline = await createPipeline(text)
      dropNew()
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      tell(`${pipeline.pipeline_name} is created.`)
      await navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline.pipeline_id } })
    } catch (error) {
      setRefusal(error)
      setBusy(false)
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
          <Gallery
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
                  loading={busy}
                  onClick={() => void create()}
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
