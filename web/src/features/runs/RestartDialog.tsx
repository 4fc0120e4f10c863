import { Button, Modal } from '@mantine/core'
import { IconArchive, IconPlayerPlay, IconPlayerStop, IconRotate, IconUserX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { restartRun } from '~/api/commands'
import type { Run } from '~/api/types'
import { versionLabel } from '~/lib/runVersion'
import { DialogActions } from '~/ui/DialogActions'
import { ProblemNotice } from '~/ui/ProblemNotice'
import type { RunCommandState } from '~/ui/useRunCommand'
import styles from './RestartDialog.module.css'
import { restartText } from './restartText'

type Props = { run: Run; task: RunCommandState; opened: boolean; onClose: () => void }

/** Restarts a run from its first checkpoint and shows the effects first. */
export function RestartDialog({ run, task, opened, onClose }: Props) {
  const next = run.pass_number + 1
  const { kept, stopped, withdrawn, starts } = restartText(run)
  const [attempted, setTried] = useState(false)
  const submit = async () => {
    setTried(true)
    const done = await task.run('restart', () => restartRun(run.run_id, run.pass_number))
    if (done !== undefined) onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Start pass ${next} of ${run.pipeline_name} ${versionLabel(run)}?`}
    >
      <p>The run keeps its version and input and goes through its checkpoints again.</p>
      <dl className={styles.impacts}>
        <ImpactRow icon={<IconArchive size={17} />} name="Kept, not deleted">
          {kept}
        </ImpactRow>
        {stopped !== null && (
          <ImpactRow icon={<IconPlayerStop size={17} />} name="Stopped and cancelled">
            {stopped}
          </ImpactRow>
        )}
        {withdrawn !== null && (
          <ImpactRow icon={<IconUserX size={17} color="var(--ochre)" />} name="Withdrawn">
            {withdrawn}
          </ImpactRow>
        )}
        <ImpactRow icon={<IconPlayerPlay size={17} color="var(--blue)" />} name="Next step">
          {starts}
        </ImpactRow>
      </dl>
      {attempted && task.problem !== null && (
        <ProblemNotice title="Couldn't restart the run." error={task.problem} />
      )}
      <DialogActions note="A new pass can't be undone.">
        <Button data-autofocus onClick={onClose}>
          Cancel
        </Button>
        <Button
          variant="filled"
          leftSection={<IconRotate size={16} />}
          loading={task.busy === 'restart'}
          onClick={() => void submit()}
        >
          Start pass {next}
        </Button>
      </DialogActions>
    </Modal>
  )
}

function ImpactRow({ icon, name, children }: { icon: ReactNode; name: string; children: ReactNode }) {
  return (
    <div className={styles.impact}>
      <dt>
        <span aria-hidden="true">{icon}</span>
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
