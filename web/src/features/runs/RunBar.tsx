import { Button } from '@mantine/core'
import { IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { cancelExecution, retryExecution, sendRunCommand, startExecution } from '~/api/commands'
import type { Execution, Run, RunCheckpoint } from '~/api/types'
import { formatDuration } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { progressText } from '~/lib/progress'
import { useShortcuts } from '~/lib/shortcuts'
import { executionState, type State } from '~/lib/states'
import { waitingText } from '~/lib/waiting'
import { BottomBar } from '~/ui/BottomBar'
import { KeyHint } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { useNow } from '~/ui/Time'
import type { RunCommandState } from '~/ui/useRunCommand'
import type { BarContent } from './barContent'

type Props = {
  run: Run
  content: BarContent
  execution: Execution | undefined
  allowed: boolean
  task: RunCommandState
  onSelect: (checkpointId: string) => void
  onRollback: () => void
}

const YOURS: State = { tone: 'ochre', icon: 'person', label: '' }

/** The bottom bar of a run, except for decisions and forms. */
export function RunBar(props: Props) {
  const { run, content, allowed, task, onSelect } = props
  const notice = taskNotice(task)
  switch (content.kind) {
    case 'start run':
      return (
        <BottomBar
          state={YOURS}
          title={`Start ${run.pipeline_name}?`}
          detail={`${pluralize(run.progress.total, 'checkpoint')}, not started yet.`}
          notice={notice}
          actions={
            allowed && (
              <PrimaryButton task={task} label="Start run" run={() => sendRunCommand(run.run_id, 'start')} />
            )
          }
        />
      )
    case 'start':
      return <StartBar {...props} item={content.item} notice={notice} />
    case 'failed':
      return <FailedBar {...props} item={content.item} notice={notice} />
    case 'elsewhere':
      return (
        <BottomBar
          state={executionState(content.item)}
          title={`${content.item.name} ${waitingText(content.item) ?? lower(executionState(content.item).label)}`}
          notice={notice}
          actions={<Button onClick={() => onSelect(content.item.checkpoint_id)}>View checkpoint</Button>}
        />
      )
    case 'resume':
      return (
        <BottomBar
          state={{ tone: 'grey', icon: 'paused', label: '' }}
          title="The run is paused"
          detail="No checkpoint starts until you resume the run. You can still submit forms and decide approvals."
          notice={notice}
          actions={
            allowed && (
              <PrimaryButton task={task} label="Resume" run={() => sendRunCommand(run.run_id, 'resume')} />
            )
          }
        />
      )
    case 'running':
      return <RunningBar {...props} item={content.item} notice={notice} />
    default:
      return <FinishedBar run={run} notice={notice} />
  }
}

/** Why the last command failed. */
export function taskNotice({ problem }: RunCommandState): ReactNode {
  if (problem === null) return null
  return (
    <Notice tone={problem.status === 409 ? 'ochre' : 'red'} title="The command failed.">
      {problem.detail}
    </Notice>
  )
}

const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)

type WithItem = Props & { item: RunCheckpoint; notice: ReactNode }

function PrimaryButton({
  task,
  label,
  run,
}: {
  task: RunCommandState
  label: string
  run: () => Promise<unknown>
}) {
  const keys = useMemo(() => ({ a: () => void task.run(label, run) }), [task, label, run])
  useShortcuts(keys)
  return (
    <Button
      variant="filled"
      size="md"
      leftSection={<IconPlayerPlay size={16} />}
      loading={task.busy === label}
      disabled={task.busy !== null && task.busy !== label}
      onClick={() => void task.run(label, run)}
    >
      {label}
      <KeyHint>A</KeyHint>
    </Button>
  )
}

function StartBar({ item, allowed, task, notice, run }: WithItem) {
  const id = item.execution_id
  return (
    <BottomBar
      state={YOURS}
      title={`Start ${item.name}?`}
      detail={
        run.checkpoints[item.position - 1] === undefined
          ? 'It is waiting for a manual start.'
          : 'Everything it needs is completed. It is waiting for a manual start.'
      }
      notice={notice}
      actions={
        allowed && id !== null && <PrimaryButton task={task} label="Start" run={() => startExecution(id)} />
      }
    />
  )
}

function FailedBar({ item, run, execution, allowed, task, notice, onSelect, onRollback }: WithItem) {
  const id = item.execution_id
  const shown = execution?.execution_id === id
  return (
    <BottomBar
      state={{ tone: 'red', icon: 'failed', label: '' }}
      title={`${item.name} failed`}
      detail={
        run.status === 'failed'
          ? 'The run stopped here. Retry continues from this step.'
          : 'The run is paused until you retry or roll back.'
      }
      notice={notice}
      actions={
        <>
          {!shown && <Button onClick={() => onSelect(item.checkpoint_id)}>View checkpoint</Button>}
          {allowed && (
            <Button size="md" onClick={onRollback}>
              Roll back…
            </Button>
          )}
          {allowed && id !== null && (
            <Button
              variant="filled"
              size="md"
              leftSection={<IconRefresh size={16} />}
              loading={task.busy === 'Retry'}
              onClick={() => void task.run('Retry', () => retryExecution(id, item.attempt_number))}
            >
              Retry
            </Button>
          )}
        </>
      }
    />
  )
}

function RunningBar({
  item,
  run,
  allowed,
  task,
  notice,
}: Omit<WithItem, 'item'> & { item: RunCheckpoint | null }) {
  const now = useNow()
  const id = item?.execution_id ?? null
  const next =
    item === null
      ? undefined
      : run.checkpoints.find((next) => next.position > item.position && next.status === 'upcoming')
  const progress = item?.progress == null ? null : progressText(item.progress)
  const waiting = item === null ? null : waitingText(item, now)
  return (
    <BottomBar
      state={item === null ? { tone: 'blue', icon: 'running', label: '' } : executionState(item, now)}
      title={
        item === null
          ? 'The run is in progress'
          : waiting === null
            ? `${item.name}: ${lower(executionState(item, now).label)}`
            : `${item.name} ${waiting}`
      }
      detail={[
        progress,
        run.pause_requested && 'pauses after this checkpoint',
        next !== undefined && `then ${next.name}`,
      ]
        .filter(Boolean)
        .join(' · ')}
      notice={notice}
      actions={
        allowed &&
        id !== null && (
          <Button
            size="md"
            leftSection={<IconPlayerStop size={16} />}
            loading={task.busy === 'stop'}
            onClick={() => void task.run('stop', () => cancelExecution(id))}
          >
            Stop checkpoint
          </Button>
        )
      }
    />
  )
}

function FinishedBar({ run, notice }: { run: Run; notice: ReactNode }) {
  const took =
    run.started_at !== null && run.completed_at !== null
      ? formatDuration((new Date(run.completed_at).getTime() - new Date(run.started_at).getTime()) / 1000)
      : null
  const artifacts = run.checkpoints.reduce((sum, item) => sum + item.artifact_count, 0)
  const text = {
    completed: [
      'Run completed',
      `${took === null ? '' : `Completed in ${took}, `}${pluralize(artifacts, 'result')} saved.`,
    ],
    cancelled: ['Run cancelled', 'Completed work is kept. Roll back to reopen the run.'],
    failed: ['Run failed', 'Roll back to reopen the run, or run it again with the same input.'],
  }[run.status as string] ?? ['Run finished', '']
  const state: Record<string, State> = {
    completed: { tone: 'green', icon: 'completed', label: '' },
    failed: { tone: 'red', icon: 'failed', label: '' },
  }
  return (
    <BottomBar
      state={state[run.status] ?? { tone: 'grey', icon: 'cancelled', label: '' }}
      title={text[0] ?? ''}
      detail={text[1]}
      notice={notice}
    />
  )
}
