import { Button } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useLiveRun } from '~/api/live'
import * as queries from '~/api/queries'
import { useRoles } from '~/api/session'
import type { Run } from '~/api/types'
import { DecisionBar, ReviewActionBar } from '~/features/approvals/DecisionBar'
import { BudgetBar } from '~/features/costs/BudgetBar'
import { CostDetails } from '~/features/costs/CostDetails'
import { RunCost } from '~/features/costs/RunCost'
import { ReworkDialog, type ReworkRequester } from '~/features/rework/ReworkDialog'
import { RollbackDialog } from '~/features/rollbacks/RollbackDialog'
import { RollbackNotice } from '~/features/rollbacks/RollbackNotice'
import { type UndoRollback, useUndoRollback } from '~/features/rollbacks/useUndoRollback'
import { barContent, canAct, initialCheckpoint } from '~/features/runs/barContent'
import { RunBar, taskNotice } from '~/features/runs/RunBar'
import { RunDetails } from '~/features/runs/RunDetails'
import { RunHeader } from '~/features/runs/RunHeader'
import { RunMenu } from '~/features/runs/RunMenu'
import { Timeline } from '~/features/runs/Timeline'
import type { Problem } from '~/lib/problems'
import { versionLabel } from '~/lib/runVersion'
import { useShortcuts } from '~/lib/shortcuts'
import { canDecide, canEdit } from '~/lib/states'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { showToast, showUndoToast } from '~/ui/toasts'
import { useRunCommand } from '~/ui/useRunCommand'
import { CheckpointPicker } from './CheckpointPicker'
import { ExecutionPane } from './ExecutionPane'
import { FormBar } from './FormBar'
import styles from './RunPage.module.css'

const route = getRouteApi('/runs/$runId')

/** A run, updated live. */
export function RunPage() {
  const { runId } = route.useParams()
  useLiveRun(runId)
  const undo = useUndoRollback()
  const { data: run, error, refetch } = useQuery(queries.run(runId))
  if (run !== undefined) return <RunView key={runId} run={run} undo={undo} />
  return (
    <Page title="Run" crumbs={[{ label: 'Runs', link: { to: '/runs' } }]}>
      <h1 className="unseen">Run</h1>
      {error !== null ? (
        <LoadError title="Couldn't load this run." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={6} label="Loading run" />
      )}
    </Page>
  )
}

function RunView({ run, undo }: { run: Run; undo: UndoRollback }) {
  const roles = useRoles()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const task = useRunCommand(run.run_id)
  const [rollingBack, setRollingBack] = useState(false)
  // The requester stays the same while the run continues behind the dialog.
  const [requester, setRequester] = useState<ReworkRequester | null>(null)
  const [sending, setSending] = useState(false)
  const [staleDecision, setStaleDecision] = useState<Problem | null>(null)
  const selected =
    run.checkpoints.find((item) => item.checkpoint_id === search.checkpoint) ??
    initialCheckpoint(run.checkpoints)
  const executionId = selected?.execution_id ?? null
  const { data: execution } = useQuery({
    ...queries.execution(run.run_id, executionId ?? ''),
    enabled: executionId !== null,
  })
  const current = executionId === null ? undefined : execution
  const content = barContent(run, selected, current)

  const select = useCallback(
    (checkpoint: string | undefined, tab?: string) =>
      void navigate({ search: { checkpoint, tab }, replace: true }),
    [navigate],
  )
  useCheckpointShortcuts(run, selected?.position ?? 0, select)

  return (
    <Page
      fullBleed
      title={versionLabel(run)}
      documentTitle={`${run.pipeline_name} ${versionLabel(run)}`}
      crumbs={[
        { label: 'Pipelines', link: { to: '/pipelines' } },
        {
          label: run.pipeline_name,
          link: { to: '/pipelines/$pipelineId', params: { pipelineId: run.pipeline_id } },
        },
      ]}
      actions={
        <RunMenu run={run} task={task} allowed={canEdit(roles)} onRollback={() => setRollingBack(true)} />
      }
    >
      <RunHeader run={run} cost={<RunCost run={run} />} />
      <RunNotices
        run={run}
        canUndo={canEdit(roles)}
        undo={undo}
        staleDecision={content.kind === 'decide' ? null : staleDecision}
        onDismiss={() => setStaleDecision(null)}
      />
      <CheckpointPicker run={run} selected={selected} onSelect={select} />
      <div className={styles.columns}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
        <section className={styles.timeline} tabIndex={0} aria-label="Timeline">
          <Timeline checkpoints={run.checkpoints} selected={selected?.checkpoint_id} onSelect={select} />
          <RunDetails run={run} costs={<CostDetails run={run} />} />
        </section>
        {selected !== undefined && (
          <ExecutionPane
            run={run}
            item={selected}
            execution={current}
            tab={search.tab}
            artifact={search.artifact}
            showsForm={content.kind === 'fill in'}
            canAnswer={canAct(content, roles)}
            onTab={(tab) => void navigate({ search: (before) => ({ ...before, tab }), replace: true })}
            onArtifact={(artifact) =>
              void navigate({ search: (before) => ({ ...before, artifact }), replace: true })
            }
            onSending={setSending}
            canEdit={canEdit(roles)}
            onRework={() => current !== undefined && setRequester({ item: selected, execution: current })}
          />
        )}
      </div>
      {content.kind === 'decide' && content.approval.kind === 'action' ? (
        <ReviewActionBar approval={content.approval} />
      ) : content.kind === 'decide' ? (
        <DecisionBar
          key={content.approval.execution_id}
          approval={content.approval}
          artifacts={current?.artifacts_generated ?? []}
          revision={
            current === undefined || current.revision_iteration === 0
              ? null
              : `revision ${current.revision_iteration} of ${current.max_revision_iterations}`
          }
          isSimulated={(current?.usage.simulated_calls ?? 0) > 0}
          canDecide={canDecide(roles)}
          onStale={setStaleDecision}
          onShowCurrent={() => select(selected?.checkpoint_id, 'artifacts')}
        />
      ) : content.kind === 'fill in' ? (
        <FormBar
          item={selected}
          approval={content.approval}
          paused={run.status === 'paused'}
          allowed={canAct(content, roles)}
          sending={sending}
          onShow={() => select(selected?.checkpoint_id)}
          shown={search.tab === undefined || search.tab === 'overview'}
        />
      ) : content.kind === 'resume' && run.over_budget !== null ? (
        <BudgetBar run={run} allowed={canAct(content, roles)} task={task} notice={taskNotice(task)} />
      ) : (
        <RunBar
          run={run}
          content={content}
          execution={current}
          allowed={canAct(content, roles)}
          task={task}
          onSelect={select}
          onRollback={() => setRollingBack(true)}
        />
      )}
      <RollbackDialog
        run={run}
        opened={rollingBack}
        onClose={() => setRollingBack(false)}
        onDone={(rollback) => {
          setRollingBack(false)
          const message = 'Rolled back. Removed items are in the archive.'
          if (rollback.can_undo)
            showUndoToast(message, () => undo.run(rollback.rollback_id), <IconArrowBackUp size={16} />)
          else showToast(message)
          const target = rollback.target_run_id ?? run.run_id
          void navigate({ to: '/runs/$runId', params: { runId: target }, search: {} })
        }}
      />
      <ReworkDialog
        run={run}
        requester={requester}
        onClose={() => setRequester(null)}
        onDone={(rework) => {
          setRequester(null)
          showToast(`Rework of ${rework.checkpoint_name} requested.`)
          select(rework.checkpoint_id)
        }}
      />
    </Page>
  )
}

type RunNoticesProps = {
  run: Run
  canUndo: boolean
  undo: UndoRollback
  staleDecision: Problem | null
  onDismiss: () => void
}

function RunNotices({ run, canUndo, undo, staleDecision, onDismiss }: RunNoticesProps) {
  return (
    <div className={styles.notes}>
      {staleDecision !== null && (
        <Notice
          tone="ochre"
          title="Your decision was too late and was not recorded."
          actions={<Button onClick={onDismiss}>Dismiss</Button>}
        >
          {staleDecision.detail}
        </Notice>
      )}
      {run.archived_by !== null && (
        <Notice tone="grey" title="This run was archived by a rollback.">
          The run is read-only. Undo the rollback to restore it.
        </Notice>
      )}
      {run.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      <RollbackNotice runId={run.run_id} canUndo={canUndo} undo={undo} />
    </div>
  )
}

/** `J` and `K` select the next and the previous checkpoint. */
function useCheckpointShortcuts(run: Run, position: number, select: (checkpoint: string) => void): void {
  const keys = useMemo(() => {
    const step = (by: number) => () => {
      const next = run.checkpoints[run.checkpoints.findIndex((item) => item.position === position) + by]
      if (next !== undefined) select(next.checkpoint_id)
    }
    return { j: step(1), k: step(-1) }
  }, [run, position, select])
  useShortcuts(keys)
}
