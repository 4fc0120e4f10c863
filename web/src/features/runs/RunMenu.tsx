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
import { sendRunCommand } from '~/api/commands'
import type { Run } from '~/api/types'
import { versionLabel } from '~/lib/runVersion'
import { DialogActions } from '~/ui/DialogActions'
import type { RunCommandState } from '~/ui/useRunCommand'
import { RestartDialog } from './RestartDialog'
import styles from './RunMenu.module.css'

type Props = { run: Run; task: RunCommandState; allowed: boolean; onRollback: () => void }

/** The actions for a run. */
export function RunMenu({ run, task, allowed, onRollback }: Props) {
  const navigate = useNavigate()
  const [cancelling, setCancelling] = useState(false)
  const [restarting, setRestarting] = useState(false)
  const isPossible = (command: string) => allowed && run.available_commands.includes(command)
  const runAgain = async () => {
    const next = await task.run('retry', () => sendRunCommand(run.run_id, 'retry'))
    if (next !== undefined) void navigate({ to: '/runs/$runId', params: { runId: next.run_id }, search: {} })
  }
  const pausing = isPossible('pause') && !run.pause_requested
  return (
    <>
      {isPossible('roll back') && (
        <Button className={styles.wide} leftSection={<IconArrowBackUp size={16} />} onClick={onRollback}>
          Roll back…
        </Button>
      )}
      {pausing && (
        <Button
          className={styles.wide}
          leftSection={<IconPlayerPauseFilled size={15} />}
          loading={task.busy === 'pause'}
          onClick={() => void task.run('pause', () => sendRunCommand(run.run_id, 'pause'))}
        >
          Pause
        </Button>
      )}
      {isPossible('resume') && (
        <Button
          className={styles.wide}
          leftSection={<IconPlayerPlayFilled size={15} />}
          loading={task.busy === 'resume'}
          onClick={() => void task.run('resume', () => sendRunCommand(run.run_id, 'resume'))}
        >
          {run.pause_requested && run.status !== 'paused' ? 'Cancel pause' : 'Resume'}
        </Button>
      )}
      <Menu width={264}>
        <Menu.Target>
          <ActionIcon variant="default" aria-label="More actions for this run">
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isPossible('roll back') && (
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
              onClick={() => void task.run('pause', () => sendRunCommand(run.run_id, 'pause'))}
            >
              Pause
            </Menu.Item>
          )}
          {isPossible('resume') && (
            <Menu.Item
              className={styles.narrow}
              leftSection={<IconPlayerPlayFilled size={15} />}
              onClick={() => void task.run('resume', () => sendRunCommand(run.run_id, 'resume'))}
            >
              Resume
            </Menu.Item>
          )}
          {isPossible('restart') && (
            <Menu.Item leftSection={<IconRotate size={16} />} onClick={() => setRestarting(true)}>
              Restart from the first checkpoint…
            </Menu.Item>
          )}
          {isPossible('retry') && (
            <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => void runAgain()}>
              Run again with the same input
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconListDetails size={16} />}
            renderRoot={(props) => <Link to="/events" search={{ run_id: run.run_id }} {...props} />}
          >
            View events
          </Menu.Item>
          {isPossible('cancel') && (
            <Menu.Item leftSection={<IconBan size={16} />} data-danger onClick={() => setCancelling(true)}>
              Cancel run…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <RestartDialog run={run} task={task} opened={restarting} onClose={() => setRestarting(false)} />
      <Modal
        opened={cancelling}
        onClose={() => setCancelling(false)}
        title={`Cancel ${run.pipeline_name} ${versionLabel(run)}?`}
      >
        <p>
          Running work is stopped and pending approvals are withdrawn. Completed work is kept, and a rollback
          can reopen the run.
        </p>
        <DialogActions>
          <Button data-autofocus onClick={() => setCancelling(false)}>
            Keep running
          </Button>
          <Button
            variant="filled"
            color="red"
            loading={task.busy === 'cancel'}
            onClick={() =>
              void task
                .run('cancel', () => sendRunCommand(run.run_id, 'cancel'))
                .then(() => setCancelling(false))
            }
          >
            Cancel run
          </Button>
        </DialogActions>
      </Modal>
    </>
  )
}
