import { IconCode, IconForms, IconFunction, IconRobot, IconUserCircle } from '@tabler/icons-react'
import type { Checkpoint, Pipeline } from '~/api/types'
import { type Gist, gistOf } from '~/lib/checkpoints'
import { modeWord } from '~/lib/states'
import { Panel, Section } from '~/ui/Page'
import styles from './CheckpointList.module.css'

const MODES: Record<string, typeof IconForms> = {
  human_only: IconForms,
  function: IconFunction,
  script: IconCode,
  agentic: IconRobot,
}

/** The checkpoints in their order: who does each, what it asks, what it leaves. */
export function Checkpoints({ pipeline }: { pipeline: Pipeline }) {
  return (
    <Section
      title="Checkpoints"
      count={pipeline.checkpoints.length}
      aside={
        <span className={styles.figures}>
          {pipeline.config.auto_advance
            ? 'Each starts by itself when its turn comes'
            : 'Each waits for a start by a person'}
        </span>
      }
    >
      <Panel>
        <ol>
          {pipeline.checkpoints.map((checkpoint, index) => (
            <Row key={checkpoint.checkpoint_id} checkpoint={checkpoint} number={index + 1} />
          ))}
        </ol>
      </Panel>
    </Section>
  )
}

function Row({ checkpoint, number }: { checkpoint: Checkpoint; number: number }) {
  const gist = gistOf(checkpoint)
  const Icon = MODES[gist.mode] ?? IconCode
  const asks = approvalWords(gist)
  const facts = [
    checkpoint.stage && checkpoint.stage !== checkpoint.key && `stage ${checkpoint.stage}`,
    checkpoint.needs && checkpoint.needs.length > 0 && `needs ${checkpoint.needs.join(', ')}`,
  ].filter(Boolean)
  return (
    <li className={styles.checkpoint}>
      <span className={styles.number}>{number}</span>
      <div className={styles.what}>
        <h3>
          {checkpoint.checkpoint_name} <code>{checkpoint.key}</code>
        </h3>
        {checkpoint.checkpoint_description && <p>{checkpoint.checkpoint_description}</p>}
        {facts.length > 0 && <p>{facts.join(' · ')}</p>}
      </div>
      <span className={styles.mode}>
        <Icon size={16} stroke={1.6} aria-hidden="true" /> {modeWord(gist.mode)}
      </span>
      <span className={styles.mode}>
        {asks !== null && (
          <>
            <IconUserCircle size={16} stroke={1.6} aria-hidden="true" /> {asks}
          </>
        )}
      </span>
      <span className={styles.outputs}>
        {gist.outputs.map((name) => (
          <code key={name}>{name}</code>
        ))}
      </span>
    </li>
  )
}

function approvalWords({ asksToStart, asksToComplete }: Gist): string | null {
  if (asksToStart && asksToComplete) return 'Asks before and after'
  if (asksToStart) return 'Asks before it starts'
  return asksToComplete ? 'Asks when it is done' : null
}
