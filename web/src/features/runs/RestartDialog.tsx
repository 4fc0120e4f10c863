import { Button, Modal } from '@mantine/core'
import { IconArchive, IconPlayerPlay, IconPlayerStop, IconRotate, IconUserX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { restartRun } from '~/api/commands'
import type { Run } from '~/api/types'
import { versionWord } from '~/lib/runVersion'
import { Actions } from '~/ui/DialogActions'
import { Refusal } from '~/ui/ProblemNotice'
import type { Task } from '~/ui/useRunCommand'
import styles from './RestartDialog.module.css'
import { restartWords } from './restartText'

type Props = { run: Run; task: Task; opened: boolean; onClose: () => void }

/** The next pass over the same run, with everything that will happen said before. */
export function RestartDialog({ run, task, opened, onClose }: Props) {
  const next = run.pass_number + 1
  const { kept, stopped, withdrawn, begins } = restartWords(run)
  const [tried, setTried] = useState(false)
  const go = async () => {
    setTried(true)
    const done = await task.run('restart', () => restartRun(run.run_id, run.pass_number))
    if (done !== undefined) onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Begin pass ${next} of ${run.pipeline_name} ${versionWord(run)}?`}
    >
      <p>The run keeps its version and its input, and walks through its checkpoints once more.</p>
      <dl className={styles.effects}>
        <Effect icon={<IconArchive size={17} />} name="Set aside, not deleted">
          {kept}
        </Effect>
        {stopped !== null && (
          <Effect icon={<IconPlayerStop size={17} />} name="Stopped and cancelled">
            {stopped}
          </Effect>
        )}
        {withdrawn !== null && (
          <Effect icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {withdrawn}
          </Effect>
        )}
        <Effect icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Then">
          {begins}
        </Effect>
      </dl>
      {tried && task.problem !== null && <Refusal title="The run was not restarted." error={task.problem} />}
      <Actions note="A new pass cannot be undone.">
        <Button data-autofocus onClick={onClose}>
          Keep pass {run.pass_number}
        </Button>
        <Button
          variant="filled"
          leftSection={<IconRotate size={16} />}
          loading={task.busy === 'restart'}
          onClick={() => void go()}
        >
          Begin pass {next}
        </Button>
      </Actions>
    </Modal>
  )
}

function Effect({ icon, name, children }: { icon: ReactNode; name: string; children: ReactNode }) {
  return (
    <div className={styles.effect}>
      <dt>
        <span aria-hidden="true">{icon}</span>
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
