import { Button } from '@mantine/core'
import { IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { cancelExecution, moveRun, retryExecution, startExecution } from '~/api/commands'
import type { Execution, Run, TrailItem } from '~/api/types'
import { duration } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { progressWords } from '~/lib/progress'
import { useKeys } from '~/lib/shortcuts'
import { executionState, type State } from '~/lib/states'
import { waitWords } from '~/lib/waiting'
import { Bar } from '~/ui/BottomBar'
import { Kbd } from '~/ui/KeyHint'
import { Notice } from '~/ui/Notice'
import { useNow } from '~/ui/Time'
import type { Task } from '~/ui/useRunCommand'
import type { Question } from './barContent'

type Props = {
  run: Run
  question: Question
  execution: Execution | undefined
  allowed: boolean
  task: Task
  onSelect: (checkpointId: string) => void
  onRollback: () => void
}

const YOURS: State = { tone: 'ochre', sign: 'person', word: '' }

/** The bar where it tells, or asks for anything but a decision or a form. */
export function RunBar(props: Props) {
  const { run, question, allowed, task, onSelect } = props
  const notice = taskNotice(task)
  switch (question.kind) {
    case 'start run':
      return (
        <Bar
          state={YOURS}
          title={`Start ${run.pipeline_name}?`}
          detail={`${count(run.progress.total, 'checkpoint')}, nothing has begun yet.`}
          notice={notice}
          actions={
            allowed && <Primary task={task} label="Start the run" run={() => moveRun(run.run_id, 'start')} />
          }
        />
      )
    case 'start':
      return <StartBar {...props} item={question.item} notice={notice} />
    case 'failed':
      return <FailedBar {...props} item={question.item} notice={notice} />
    case 'elsewhere':
      return (
        <Bar
          state={executionState(question.item)}
          title={`${question.item.name} ${waitWords(question.item) ?? lower(executionState(question.item).word)}`}
          notice={notice}
          actions={<Button onClick={() => onSelect(question.item.checkpoint_id)}>Show it</Button>}
        />
      )
    case 'resume':
      return (
        <Bar
          state={{ tone: 'grey', sign: 'paused', word: '' }}
          title="The run is paused"
          detail="Nothing starts until it is resumed. Forms and decisions are taken all the same."
          notice={notice}
          actions={
            allowed && <Primary task={task} label="Resume" run={() => moveRun(run.run_id, 'resume')} />
          }
        />
      )
    case 'running':
      return <RunningBar {...props} item={question.item} notice={notice} />
    default:
      return <OverBar run={run} notice={notice} />
  }
}

/** Why the last command was refused. */
export function taskNotice({ problem }: Task): ReactNode {
  if (problem === null) return null
  return (
    <Notice tone={problem.status === 409 ? 'ochre' : 'red'} title="That did not happen.">
      {problem.detail}
    </Notice>
  )
}

const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)

type WithItem = Props & { item: TrailItem; notice: ReactNode }

function Primary({ task, label, run }: { task: Task; label: string; run: () => Promise<unknown> }) {
  const keys = useMemo(() => ({ a: () => void task.run(label, run) }), [task, label, run])
  useKeys(keys)
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
      <Kbd>A</Kbd>
    </Button>
  )
}

function StartBar({ item, allowed, task, notice, run }: WithItem) {
  const id = item.execution_id
  return (
    <Bar
      state={YOURS}
      title={`Start ${item.name}?`}
      detail={
        run.trail[item.position - 1] === undefined
          ? 'It waits for somebody to start it.'
          : 'What it needs is complete. It waits for somebody to start it.'
      }
      notice={notice}
      actions={allowed && id !== null && <Primary task={task} label="Start" run={() => startExecution(id)} />}
    />
  )
}

function FailedBar({ item, run, execution, allowed, task, notice, onSelect, onRollback }: WithItem) {
  const id = item.execution_id
  const shown = execution?.execution_id === id
  return (
    <Bar
      state={{ tone: 'red', sign: 'failed', word: '' }}
      title={`${item.name} failed`}
      detail={
        run.status === 'failed'
          ? 'The run has ended with it. A retry goes on from here.'
          : 'The run is paused until this is settled.'
      }
      notice={notice}
      actions={
        <>
          {!shown && <Button onClick={() => onSelect(item.checkpoint_id)}>Show it</Button>}
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
}: Omit<WithItem, 'item'> & { item: TrailItem | null }) {
  const now = useNow()
  const id = item?.execution_id ?? null
  const next =
    item === null
      ? undefined
      : run.trail.find((other) => other.position > item.position && other.status === 'upcoming')
  const narrated = item?.progress == null ? null : progressWords(item.progress)
  const waits = item === null ? null : waitWords(item, now)
  return (
    <Bar
      state={item === null ? { tone: 'blue', sign: 'running', word: '' } : executionState(item, now)}
      title={
        item === null
          ? 'The run goes on'
          : waits === null
            ? `${item.name}: ${lower(executionState(item, now).word)}`
            : `${item.name} ${waits}`
      }
      detail={[
        narrated,
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
            Stop this checkpoint
          </Button>
        )
      }
    />
  )
}

function OverBar({ run, notice }: { run: Run; notice: ReactNode }) {
  const took =
    run.started_at !== null && run.completed_at !== null
      ? duration((new Date(run.completed_at).getTime() - new Date(run.started_at).getTime()) / 1000)
      : null
  const artifacts = run.trail.reduce((sum, item) => sum + item.artifact_count, 0)
  const words = {
    completed: [
      'The run is complete',
      `${count(artifacts, 'artifact')} promoted${took === null ? '.' : ` in ${took}.`}`,
    ],
    cancelled: ['The run was cancelled', 'What was completed is kept. A rollback opens it again.'],
    failed: [
      'The run failed',
      'A rollback opens it again; a retry makes the next version with the same input.',
    ],
  }[run.status as string] ?? ['The run is over', '']
  const state: Record<string, State> = {
    completed: { tone: 'green', sign: 'completed', word: '' },
    failed: { tone: 'red', sign: 'failed', word: '' },
  }
  return (
    <Bar
      state={state[run.status] ?? { tone: 'grey', sign: 'cancelled', word: '' }}
      title={words[0] ?? ''}
      detail={words[1]}
      notice={notice}
    />
  )
}
