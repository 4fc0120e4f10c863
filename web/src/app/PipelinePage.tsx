import { ActionIcon, Button, Menu, Tabs } from '@mantine/core'
import { IconDots, IconPencil, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import * as queries from '~/api/queries'
import { useRoles } from '~/api/session'
import type { Pipeline } from '~/api/types'
import { CheckpointList } from '~/features/checkpoints/CheckpointList'
import { DefinitionHistory } from '~/features/definitions/DefinitionHistory'
import { DefinitionView } from '~/features/definitions/DefinitionView'
import { PipelineRuns } from '~/features/pipelines/PipelineRuns'
import { nextVersion, startLabel as versionStartLabel } from '~/features/pipelines/runVersions'
import { StartDialog } from '~/features/pipelines/StartDialog'
import { useDeletePipeline } from '~/features/pipelines/useDeletePipeline'
import { pluralize } from '~/lib/formatting'
import { canEdit } from '~/lib/states'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './PipelinePage.module.css'

const route = getRouteApi('/pipelines/$pipelineId')

/** A pipeline with its checkpoints, runs, definition and history. */
export function PipelinePage() {
  const { pipelineId } = route.useParams()
  const { data, error, refetch } = useQuery(queries.pipeline(pipelineId))
  if (data !== undefined) return <PipelineView key={pipelineId} pipeline={data} />
  return (
    <Page title="Pipeline" crumbs={[{ label: 'Pipelines', link: { to: '/pipelines' } }]}>
      <h1 className="unseen">Pipeline</h1>
      {error !== null ? (
        <LoadError title="Couldn't load this pipeline." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={5} label="Loading pipeline" />
      )}
    </Page>
  )
}

function PipelineView({ pipeline }: { pipeline: Pipeline }) {
  const allowed = canEdit(useRoles())
  const { tab, edit } = route.useSearch()
  const navigate = route.useNavigate()
  const [starting, setStarting] = useState(false)
  const deletion = useDeletePipeline(pipeline, () => void navigate({ to: '/pipelines' }))
  const { data: runs } = useQuery(queries.pipelineRuns(pipeline.pipeline_id, true))
  const deleted = pipeline.deleted_at !== null
  const startLabel =
    runs === undefined
      ? 'Start run'
      : versionStartLabel(nextVersion(runs.items, pipeline.pipeline_definition_version))
  return (
    <Page
      title={pipeline.pipeline_name}
      crumbs={[{ label: 'Pipelines', link: { to: '/pipelines' } }]}
      actions={
        allowed &&
        !deleted && (
          <>
            <Button
              variant="filled"
              leftSection={<IconPlayerPlay size={16} />}
              onClick={() => setStarting(true)}
            >
              {startLabel}
            </Button>
            <Menu width={200}>
              <Menu.Target>
                <ActionIcon variant="default" aria-label="More actions for this pipeline">
                  <IconDots size={17} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  leftSection={<IconPencil size={16} />}
                  onClick={() => void navigate({ search: { tab: 'definition', edit: true } })}
                >
                  Edit definition
                </Menu.Item>
                <Menu.Item leftSection={<IconTrash size={16} />} data-danger onClick={deletion.deleteNow}>
                  Delete
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
    >
      <h1>{pipeline.pipeline_name}</h1>
      <p className={styles.lead}>
        {pipeline.pipeline_description && <span>{pipeline.pipeline_description} </span>}
        <span className={styles.figures}>
          {pluralize(pipeline.checkpoints.length, 'checkpoint')}, definition version{' '}
          {pipeline.pipeline_definition_version}, revision {pipeline.revision},{' '}
          <Link to="/rules" search={{ pipeline: pipeline.pipeline_id }}>
            view rules
          </Link>
        </span>
      </p>
      <div className={styles.notices}>
        {deleted && (
          <Notice
            tone="grey"
            title="This pipeline was deleted."
            actions={
              allowed && (
                <Button loading={deletion.busy} onClick={deletion.restore}>
                  Restore
                </Button>
              )
            }
          >
            The pipeline and its runs are in the archive. You can restore them.
          </Notice>
        )}
        {pipeline.warnings.map((warning) => (
          <Notice key={`${warning.path}${warning.message}`} tone="grey" title={warning.path}>
            {warning.message}
          </Notice>
        ))}
      </div>
      <Tabs
        value={tab ?? 'overview'}
        onChange={(value) =>
          void navigate({
            search: value === 'definition' || value === 'history' ? { tab: value } : {},
            replace: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List className={styles.tabs}>
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="definition">Definition</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview">
          <CheckpointList pipeline={pipeline} />
          <PipelineRuns pipeline={pipeline} />
        </Tabs.Panel>
        <Tabs.Panel value="definition">
          <DefinitionView
            pipeline={pipeline}
            editing={edit === true && allowed && !deleted}
            canEdit={allowed && !deleted}
            onEdit={(on) => void navigate({ search: { tab: 'definition', edit: on || undefined } })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <DefinitionHistory pipeline={pipeline} canRevert={allowed && !deleted} />
        </Tabs.Panel>
      </Tabs>
      <StartDialog pipelineId={pipeline.pipeline_id} opened={starting} onClose={() => setStarting(false)} />
      {deletion.dialog}
    </Page>
  )
}
