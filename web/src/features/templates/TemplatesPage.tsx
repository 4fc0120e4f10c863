import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRoles } from '~/api/session'
import { saveNewPipelineDraft } from '~/lib/newPipelineDraft'
import { canEdit } from '~/lib/states'
import { Page } from '~/ui/Page'
import { TemplateGallery } from './TemplateGallery'

/** The page of all templates. */
export function TemplatesPage() {
  const navigate = useNavigate()
  const allowed = canEdit(useRoles())
  return (
    <Page
      title="Templates"
      actions={
        allowed && (
          <Button
            leftSection={<IconPlus size={16} />}
            renderRoot={(props) => <Link to="/pipelines/new" search={{ from: 'yaml' }} {...props} />}
          >
            Write YAML
          </Button>
        )
      }
    >
      <h1>Templates</h1>
      <TemplateGallery
        onEdit={(template) => {
          saveNewPipelineDraft(template.text)
          void navigate({ to: '/pipelines/new', search: { from: 'yaml' } })
        }}
      />
    </Page>
  )
}
