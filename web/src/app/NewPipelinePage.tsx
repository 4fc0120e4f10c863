import { Button, Tabs } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { createPipeline } from '~/api/commands'
import { DefinitionEditor } from '~/features/definitions/DefinitionEditor'
import { TemplateGallery } from '~/features/templates/TemplateGallery'
import { deleteNewPipelineDraft, readNewPipelineDraft, saveNewPipelineDraft } from '~/lib/newPipelineDraft'
import { asProblem } from '~/lib/problems'
import { Page } from '~/ui/Page'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './NewPipelinePage.module.css'

const route = getRouteApi('/pipelines/new')

/** Creates a pipeline from a template or from YAML. The text survives a reload. */
export function NewPipelinePage() {
  const { from } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [text, setText] = useState(readNewPipelineDraft)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => createPipeline(text),
    onSuccess: async (pipeline) => {
      deleteNewPipelineDraft()
      void client.invalidateQueries({ queryKey: ['pipelines'] })
      showToast(`Created ${pipeline.pipeline_name}.`)
      await navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline.pipeline_id } })
    },
  })

  const updateText = (next: string) => {
    setText(next)
    if (error !== null) reset()
    saveNewPipelineDraft(next)
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
          <Tabs.Tab value="template">From template</Tabs.Tab>
          <Tabs.Tab value="yaml">Write YAML</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="template">
          <TemplateGallery
            onEdit={(template) => {
              updateText(template.text)
              void navigate({ search: { from: 'yaml' } })
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <DefinitionEditor
            text={text}
            onChange={updateText}
            extraFindings={
              error === null ? [] : asProblem(error).errors.map((item) => ({ ...item, severity: 'error' }))
            }
            footer={
              <div className={styles.footer}>
                {error !== null && <ProblemNotice title="Couldn't create the pipeline." error={error} />}
                <Button
                  variant="filled"
                  leftSection={<IconPlus size={16} />}
                  disabled={text.trim() === ''}
                  loading={isPending}
                  onClick={() => mutate()}
                >
                  Create pipeline
                </Button>
              </div>
            }
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
