import { UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import type { Run, RunCheckpoint } from '~/api/types'
import { CostDetails } from '~/features/costs/CostDetails'
import { RunDetails } from '~/features/runs/RunDetails'
import { Timeline } from '~/features/runs/Timeline'
import { executionState } from '~/lib/states'
import { StateIcon } from '~/ui/StateTag'
import styles from './RunPage.module.css'

type Props = { run: Run; selected: RunCheckpoint | undefined; onSelect: (checkpointId: string) => void }

/** The timeline on a phone, collapsed to one line. */
export function CheckpointPicker({ run, selected, onSelect }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  if (selected === undefined) return null
  return (
    <div className={styles.picker}>
      <UnstyledButton
        className={styles.pickerButton}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <StateIcon state={executionState(selected)} size={18} />
        <span>
          {selected.position + 1} of {run.checkpoints.length}, {selected.name}
        </span>
        <IconChevronDown size={18} aria-hidden="true" data-open={isOpen || undefined} />
      </UnstyledButton>
      {isOpen && (
        <div className={styles.expanded}>
          <Timeline
            checkpoints={run.checkpoints}
            selected={selected.checkpoint_id}
            onSelect={(id) => {
              setIsOpen(false)
              onSelect(id)
            }}
          />
          <RunDetails run={run} costs={<CostDetails run={run} />} />
        </div>
      )}
    </div>
  )
}
