import { Button } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useLiveRun } from '~/api/live'
import * as queries from '~/api/queries'
import { useRoles } from '~/api/session'
import type { Run } from '~/api/types'
import { ActionBar, DecisionBar } from '~/features/approvals/DecisionBar'
import { BudgetBar } from '~/features/costs/BudgetBar'
import { CostFacts } from '~/features/costs/CostDetails'
import { RunCost } from '~/features/costs/RunCost'
import { type Asker, ReworkDialog } from '~/features/rework/ReworkDialog'
import { RollbackDialog } from '~/features/rollbacks/RollbackDialog'
import { RollbackNote } from '~/features/rollbacks/RollbackNotice'
import { type Undo, useUndo } from '~/features/rollbacks/useUndoRollback'
import { mayTake, opening, questionOf } from '~/features/runs/barContent'
import { RunBar, taskNotice } from '~/features/runs/RunBar'
import { RunFacts } from '~/features/runs/RunDetails'
import { RunHead } from '~/features/runs/RunHeader'
import { RunMenu } from '~/features/runs/RunMenu'
import { Timeline } from '~/features/runs/Timeline'
import type { Problem } from '~/lib/problems'
import { versionWord } from '~/lib/runVersion'
import { useKeys } from '~/lib/shortcuts'
import { mayDecide, mayEdit } from '~/lib/states'
import { LoadingRows } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Page } from '~/ui/Page'
import { Failure } from '~/ui/ProblemNotice'
import { tell, tellWithUndo } from '~/ui/toasts'
import { useTask } from '~/ui/useRunCommand'
import { CheckpointPicker } from './CheckpointPicker'
import { ExecutionPane } from './ExecutionPane'
import { FormBar } from './FormBar'
import styles from './RunPage.module.css'

const route = getRouteApi('/runs/$runId')

/** One run, live: where it stands, what each checkpoint gave, and what is asked now. */
export function RunPage() {
  const { runId } = route.useParams()
  useLiveRun(runId)
  const undo = useUndo()
  const { data: run, error, refetch } = useQuery(queries.run(runId))
  if (run !== undefined) return <OpenRun key={runId} run={run} undo={undo} />
  return (
    <Page title="Run" crumbs={[{ label: 'Runs', link: { to: '/runs' } }]}>
      <h1 className="unseen">Run</h1>
      {error !== null ? (
        <Failure what="This run could not be read." error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows rows={6} label="Loading the run" />
      )}
    </Page>
  )
}

function OpenRun({ run, undo }: { run: Run; undo: Undo }) {
  const roles = useRoles()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const task = useTask(run.run_id)
  const [rollingBack, setRollingBack] = useState(false)
  // Who sends work back stays the same while the run moves on below the dialog.
  const [asker, setAsker] = useState<Asker | null>(null)
  const [sending, setSending] = useState(false)
  const [tooLate, setTooLate] = useState<Problem | null>(null)
  const selected = run.trail.find((item) => item.checkpoint_id === search.checkpoint) ?? opening(run.trail)
  const executionId = selected?.execution_id ?? null
  const { data: execution } = useQuery({
    ...queries.execution(run.run_id, executionId ?? ''),
    enabled: executionId !== null,
  })
  const current = executionId === null ? undefined : execution
  const question = questionOf(run, selected, current)

  const select = useCallback(
    (checkpoint: string | undefined, tab?: string) =>
      void navigate({ search: { checkpoint, tab }, replace: true }),
    [navigate],
  )
  useStepKeys(run, selected?.position ?? 0, select)

  return (
    <Page
      bleed
      title={versionWord(run)}
      crumbs={[
        { label: 'Pipelines', link: { to: '/pipelines' } },
        {
          label: run.pipeline_name,
          link: { to: '/pipelines/$pipelineId', params: { pipelineId: run.pipeline_id } },
        },
      ]}
      actions={
        <RunMenu run={run} task={task} allowed={mayEdit(roles)} onRollback={() => setRollingBack(true)} />
      }
    >
      <RunHead run={run} cost={<RunCost run={run} />} />
      <Notes
        run={run}
        mayUndo={mayEdit(roles)}
        undo={undo}
        tooLate={question.kind === 'decide' ? null : tooLate}
        onSeen={() => setTooLate(null)}
      />
      <CheckpointPicker run={run} selected={selected} onSelect={select} />
      <div className={styles.columns}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
        <section className={styles.timeline} tabIndex={0} aria-label="Timeline">
          <Timeline trail={run.trail} selected={selected?.checkpoint_id} onSelect={select} />
          <RunFacts run={run} costs={<CostFacts run={run} />} />
        </section>
        {selected !== undefined && (
          <ExecutionPane
            run={run}
            item={selected}
            execution={current}
            tab={search.tab}
            artifact={search.artifact}
            asksForForm={question.kind === 'fill in'}
            mayAnswer={mayTake(question, roles)}
            onTab={(tab) => void navigate({ search: (before) => ({ ...before, tab }), replace: true })}
            onArtifact={(artifact) =>
              void navigate({ search: (before) => ({ ...before, artifact }), replace: true })
            }
            onSending={setSending}
            mayEdit={mayEdit(roles)}
            onRework={() => current !== undefined && setAsker({ item: selected, execution: current })}
          />
        )}
      </div>
      {question.kind === 'decide' && question.approval.kind === 'action' ? (
        <ActionBar approval={question.approval} />
      ) : question.kind === 'decide' ? (
        <DecisionBar
          key={question.approval.execution_id}
          approval={question.approval}
          artifacts={current?.artifacts_generated ?? []}
          revision={
            current === undefined || current.revision_iteration === 0
              ? null
              : `revision ${current.revision_iteration} of ${current.max_revision_iterations}`
          }
          isSimulated={(current?.usage.simulated_calls ?? 0) > 0}
          mayDecide={mayDecide(roles)}
          onTooLate={setTooLate}
          onLook={() => select(selected?.checkpoint_id, 'artifacts')}
        />
      ) : question.kind === 'fill in' ? (
        <FormBar
          item={selected}
          approval={question.approval}
          paused={run.status === 'paused'}
          allowed={mayTake(question, roles)}
          sending={sending}
          onShow={() => select(selected?.checkpoint_id)}
          shown={search.tab === undefined || search.tab === 'overview'}
        />
      ) : question.kind === 'resume' && run.over_budget !== null ? (
        <BudgetBar run={run} allowed={mayTake(question, roles)} task={task} notice={taskNotice(task)} />
      ) : (
        <RunBar
          run={run}
          question={question}
          execution={current}
          allowed={mayTake(question, roles)}
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
          const told = 'Rolled back. What was taken away is in the archive.'
          if (rollback.can_undo)
            tellWithUndo(told, () => void undo.run(rollback.rollback_id), <IconArrowBackUp size={16} />)
          else tell(told)
          const target = rollback.target_run_id ?? run.run_id
          void navigate({ to: '/runs/$runId', params: { runId: target }, search: {} })
        }}
      />
      <ReworkDialog
        run={run}
        asker={asker}
        onClose={() => setAsker(null)}
        onDone={(rework) => {
          setAsker(null)
          tell(`${rework.checkpoint_name} is sent back.`)
          select(rework.checkpoint_id)
        }}
      />
    </Page>
  )
}

type NotesProps = { run: Run; mayUndo: boolean; undo: Undo; tooLate: Problem | null; onSeen: () => void }

function Notes({ run, mayUndo, undo, tooLate, onSeen }: NotesProps) {
  return (
    <div className={styles.notes}>
      {tooLate !== null && (
        <Notice
          tone="ochre"
          title="Your decision came too late and was not recorded."
          actions={<Button onClick={onSeen}>Understood</Button>}
        >
          {tooLate.detail}
        </Notice>
      )}
      {run.archived_by !== null && (
        <Notice tone="grey" title="This run was archived by a rollback.">
          It can be read, but it does not go on. Undo the rollback to bring it back.
        </Notice>
      )}
      {run.warnings.map((warning) => (
        <Notice key={warning} tone="grey" title={warning} />
      ))}
      <RollbackNote runId={run.run_id} mayUndo={mayUndo} undo={undo} />
    </div>
  )
}

/** `J` and `K` walk through the checkpoints. */
function useStepKeys(run: Run, position: number, select: (checkpoint: string) => void): void {
  const keys = useMemo(() => {
    const step = (by: number) => () => {
      const next = run.trail[run.trail.findIndex((item) => item.position === position) + by]
      if (next !== undefined) select(next.checkpoint_id)
    }
    return { j: step(1), k: step(-1) }
  }, [run, position, select])
  useKeys(keys)
}
