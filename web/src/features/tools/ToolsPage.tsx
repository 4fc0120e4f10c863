import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { discoverTools, removeTool, toolPages } from '~/api/tools'
import type { Tool } from '~/api/types'
import { pluralize, pluralizeAtLeast } from '~/lib/formatting'
import { AdminPage } from '~/ui/AdminPage'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { LoadMoreButton } from '~/ui/LoadMore'
import { Notice } from '~/ui/Notice'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import { ToolDialog } from './ToolDialog'
import styles from './Tools.module.css'
import { EFFECT_LABELS, STATE_LABELS } from './toolLabels'

/** The tools of MCP servers, and what they may do without approval. */
export function ToolsPage() {
  const client = useQueryClient()
  const [open, setOpen] = useState<Tool | null>(null)
  const discover = useMutation({
    mutationFn: discoverTools,
    onSuccess: async (found) => {
      await client.invalidateQueries({ queryKey: ['tools'] })
      showToast(`Found ${pluralize(found.tools, 'tool')}.`)
    },
  })
  return (
    <AdminPage
      title="Tools"
      actions={
        <Button
          leftSection={<IconRefresh size={16} />}
          loading={discover.isPending}
          onClick={() => discover.mutate()}
        >
          Discover tools
        </Button>
      }
    >
      {discover.error !== null && <ProblemNotice title="Couldn't discover tools." error={discover.error} />}
      {discover.data?.problems.map((problem) => (
        <Notice key={problem.server} tone="ochre" title={`Couldn't start ${problem.server}.`}>
          {problem.message}
        </Notice>
      ))}
      <ToolList onOpen={setOpen} />
      {open !== null && <ToolDialog tool={open} onClose={() => setOpen(null)} />}
    </AdminPage>
  )
}

function ToolList({ onOpen }: { onOpen: (tool: Tool) => void }) {
  const client = useQueryClient()
  const [removing, setRemoving] = useState<Tool | null>(null)
  const pages = useInfiniteQuery(toolPages())
  if (pages.error !== null)
    return <LoadError title="Couldn't load tools." error={pages.error} retry={() => void pages.refetch()} />
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading tools" />
  const items = pages.data.pages.flatMap((page) => page.items)
  const changed = items.filter((tool) => tool.state === 'changed').length
  return (
    <div className={styles.sections}>
      <h1>{items.length === 0 ? 'No tools' : pluralizeAtLeast(items.length, pages.hasNextPage, 'tool')}</h1>
      <p className={styles.note}>
        A call of a tool needs approval unless the tool is listed here as one that only reads, or that sends
        to certain hosts. A listing is for one version of a tool.
      </p>
      {changed > 0 && (
        <Notice tone="ochre" title={`${pluralize(changed, 'tool')} changed since they were listed.`}>
          Their calls need approval until you check them.
        </Notice>
      )}
      {items.length === 0 ? (
        <EmptyState title="No tools found yet">
          Add MCP servers to the settings and discover their tools.
        </EmptyState>
      ) : (
        <DataTable
          label="Tools"
          columns={COLUMNS}
          rows={items.map((tool) => ({
            key: tool.name,
            cells: [
              <span key="name" className={styles.name}>
                <code>{tool.name}</code>
                {tool.server !== null && <p className={styles.detail}>{tool.server}</p>}
              </span>,
              STATE_LABELS[tool.state],
              EFFECT_LABELS[tool.effect],
              tool.used_by.map((use) => use.pipeline_name).join(', '),
              <ToolButtons key="do" tool={tool} onOpen={onOpen} onRemove={setRemoving} />,
            ],
          }))}
        />
      )}
      <LoadMoreButton pages={pages} />
      <FormDialog
        title={`Remove ${removing?.name ?? ''} from the list?`}
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        cancelLabel="Cancel"
        submitLabel="Remove tool"
        errorTitle="Couldn't remove the tool."
        danger
        onSubmit={async () => {
          if (removing !== null) await removeTool(removing.name)
          await client.invalidateQueries({ queryKey: ['tools'] })
          setRemoving(null)
        }}
      >
        <p>Its calls need approval from now on.</p>
      </FormDialog>
    </div>
  )
}

type ButtonsProps = { tool: Tool; onOpen: (tool: Tool) => void; onRemove: (tool: Tool) => void }

function ToolButtons({ tool, onOpen, onRemove }: ButtonsProps) {
  return (
    <>
      {tool.state !== 'unseen' && (
        <Button onClick={() => onOpen(tool)} aria-label={`View ${tool.name}…`}>
          View…
        </Button>
      )}
      {tool.grant !== null && (
        <Button
          variant="subtle"
          color="red"
          onClick={() => onRemove(tool)}
          aria-label={`Remove ${tool.name}…`}
        >
          Remove…
        </Button>
      )}
    </>
  )
}

const COLUMNS = [
  { title: 'Tool', width: 'minmax(0, 1.6fr)', untitled: true },
  { title: 'State', width: 'minmax(0, 0.5fr)' },
  { title: 'Effect', width: 'minmax(0, 0.6fr)' },
  { title: 'Used by', width: 'minmax(0, 0.8fr)' },
  { title: 'Edit', width: '190px', untitled: true, alignEnd: true },
]
