import { UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import type { Run, TrailItem } from '~/api/types'
import { CostFacts } from '~/features/costs/CostDetails'
import { RunFacts } from '~/features/runs/RunDetails'
import { Timeline } from '~/features/runs/Timeline'
import { executionState } from '~/lib/states'
import { StateSign } from '~/ui/StateTag'
import styles from './RunPage.module.css'

type Props = { run: Run; selected: TrailItem | undefined; onSelect: (checkpointId: string) => void }

/** The timeline on a phone: one line that unfolds. */
export function CheckpointPicker({ run, selected, onSelect }: Props) {
  const [open, setOpen] = useState(false)
  if (selected === undefined) return null
  return (
    <div className={styles.picker}>
      <UnstyledButton className={styles.picked} aria-expanded={open} onClick={() => setOpen(!open)}>
        <StateSign state={executionState(selected)} size={18} />
        <span>
          {selected.position + 1} of {run.trail.length}, {selected.name}
        </span>
        <IconChevronDown size={18} aria-hidden="true" data-open={open || undefined} />
      </UnstyledButton>
      {open && (
        <div className={styles.unfolded}>
          <Timeline
            trail={run.trail}
            selected={selected.checkpoint_id}
            onSelect={(id) => {
              setOpen(false)
              onSelect(id)
            }}
          />
          <RunFacts run={run} costs={<CostFacts run={run} />} />
        </div>
      )}
    </div>
  )
}
