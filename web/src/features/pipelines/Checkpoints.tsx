import { IconCode, IconForms, IconFunction, IconRobot, IconUserCircle } from '@tabler/icons-react'
import type { Checkpoint, Pipeline } from '~/api/types'
import { modeWord } from '~/lib/states'
import { Panel, Section } from '~/ui/Page'
import styles from './Pipeline.module.css'

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
  const Icon = MODES[checkpoint.execution.mode] ?? IconCode
  const asks = approvalWords(checkpoint)
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
        <Icon size={16} stroke={1.6} aria-hidden="true" /> {modeWord(checkpoint.execution.mode)}
      </span>
      <span className={styles.mode}>
        {asks !== null && (
          <>
            <IconUserCircle size={16} stroke={1.6} aria-hidden="true" /> {asks}
          </>
        )}
      </span>
      <span className={styles.outputs}>
        {checkpoint.output.artifacts.map((artifact) => (
          <code key={artifact.name}>
            {artifact.name.endsWith(`.${artifact.format}`)
              ? artifact.name
              : `${artifact.name}.${artifact.format}`}
          </code>
        ))}
      </span>
    </li>
  )
}

function approvalWords({ human_interaction: asks }: Checkpoint): string | null {
  if (asks.requires_approval_to_start && asks.requires_approval_to_complete) return 'Asks before and after'
  if (asks.requires_approval_to_start) return 'Asks before it starts'
  return asks.requires_approval_to_complete ? 'Asks when it is done' : null
}
