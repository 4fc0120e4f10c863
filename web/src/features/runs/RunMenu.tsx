import { ActionIcon, Button, Menu, Modal } from '@mantine/core'
import {
  IconArrowBackUp,
  IconBan,
  IconDots,
  IconListDetails,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconRefresh,
  IconRotate,
} from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { moveRun } from '~/api/commands'
import type { Run } from '~/api/types'
import { versionWord } from '~/lib/runVersion'
import { Actions } from '~/ui/DialogActions'
import type { Task } from '~/ui/useRunCommand'
import { RestartDialog } from './RestartDialog'
import styles from './RunMenu.module.css'

type Props = { run: Run; task: Task; allowed: boolean; onRollback: () => void }

/** What can be done with the run as a whole. */
export function RunMenu({ run, task, allowed, onRollback }: Props) {
  const navigate = useNavigate()
  const [cancelling, setCancelling] = useState(false)
  const [restarting, setRestarting] = useState(false)
  const can = (move: string) => allowed && run.possible.includes(move)
  const again = async () => {
    const next = await task.run('retry', () => moveRun(run.run_id, 'retry'))
    if (next !== undefined) void navigate({ to: '/runs/$runId', params: { runId: next.run_id }, search: {} })
  }
  const pausing = can('pause') && !run.pause_requested
  return (
    <>
      {can('roll back') && (
        <Button className={styles.wide} leftSection={<IconArrowBackUp size={16} />} onClick={onRollback}>
          Roll back…
        </Button>
      )}
      {pausing && (
        <Button
          className={styles.wide}
          leftSection={<IconPlayerPauseFilled size={15} />}
          loading={task.busy === 'pause'}
          onClick={() => void task.run('pause', () => moveRun(run.run_id, 'pause'))}
        >
          Pause
        </Button>
      )}
      {can('resume') && (
        <Button
          className={styles.wide}
          leftSection={<IconPlayerPlayFilled size={15} />}
          loading={task.busy === 'resume'}
          onClick={() => void task.run('resume', () => moveRun(run.run_id, 'resume'))}
        >
          {run.pause_requested && run.status !== 'paused' ? 'Do not pause' : 'Resume'}
        </Button>
      )}
      <Menu width={264}>
        <Menu.Target>
          <ActionIcon variant="default" aria-label="More for this run">
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {can('roll back') && (
            <Menu.Item
              className={styles.narrow}
              leftSection={<IconArrowBackUp size={16} />}
              onClick={onRollback}
            >
              Roll back…
            </Menu.Item>
          )}
          {pausing && (
            <Menu.Item
              className={styles.narrow}
              leftSection={<IconPlayerPauseFilled size={15} />}
              onClick={() => void task.run('pause', () => moveRun(run.run_id, 'pause'))}
            >
              Pause
            </Menu.Item>
          )}
          {can('resume') && (
            <Menu.Item
              className={styles.narrow}
              leftSection={<IconPlayerPlayFilled size={15} />}
              onClick={() => void task.run('resume', () => moveRun(run.run_id, 'resume'))}
            >
              Resume
            </Menu.Item>
          )}
          {can('restart') && (
            <Menu.Item leftSection={<IconRotate size={16} />} onClick={() => setRestarting(true)}>
              Restart from the first checkpoint…
            </Menu.Item>
          )}
          {can('retry') && (
            <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => void again()}>
              Run again with the same input
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconListDetails size={16} />}
            renderRoot={(props) => <Link to="/events" search={{ run_id: run.run_id }} {...props} />}
          >
            Events of this run
          </Menu.Item>
          {can('cancel') && (
            <Menu.Item leftSection={<IconBan size={16} />} data-danger onClick={() => setCancelling(true)}>
              Cancel the run…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <RestartDialog run={run} task={task} opened={restarting} onClose={() => setRestarting(false)} />
      <Modal
        opened={cancelling}
        onClose={() => setCancelling(false)}
        title={`Cancel ${run.pipeline_name} ${versionWord(run)}?`}
      >
        <p>
          What runs is stopped, open questions are withdrawn. What is completed is kept, and a rollback can
          open the run again.
        </p>
        <Actions>
          <Button data-autofocus onClick={() => setCancelling(false)}>
            Let it go on
          </Button>
          <Button
            variant="filled"
            color="red"
            loading={task.busy === 'cancel'}
            onClick={() =>
              void task.run('cancel', () => moveRun(run.run_id, 'cancel')).then(() => setCancelling(false))
            }
          >
            Cancel the run
          </Button>
        </Actions>
      </Modal>
    </>
  )
}
