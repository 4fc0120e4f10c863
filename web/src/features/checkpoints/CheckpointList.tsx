import { IconCode, IconForms, IconFunction, IconRobot, IconUserCircle } from '@tabler/icons-react'
import type { Checkpoint, Pipeline } from '~/api/types'
import { type CheckpointSummary, summarizeCheckpoint } from '~/lib/checkpoints'
import { modeLabel } from '~/lib/states'
import { Panel, Section } from '~/ui/Page'
import styles from './CheckpointList.module.css'

const MODES: Record<string, typeof IconForms> = {
  human_only: IconForms,
  function: IconFunction,
  script: IconCode,
  agentic: IconRobot,
}

/** The checkpoints of a pipeline with their mode, approvals and outputs. */
export function CheckpointList({ pipeline }: { pipeline: Pipeline }) {
  return (
    <Section
      title="Checkpoints"
      count={pipeline.checkpoints.length}
      aside={
        <span className={styles.figures}>
          {pipeline.config.auto_advance
            ? 'Checkpoints start automatically'
            : 'Checkpoints are started manually'}
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
  const summary = summarizeCheckpoint(checkpoint)
  const Icon = MODES[summary.mode] ?? IconCode
  const approval = approvalLabel(summary)
  const details = [
    checkpoint.stage && checkpoint.stage !== checkpoint.key && `stage ${checkpoint.stage}`,
    checkpoint.needs && checkpoint.needs.length > 0 && `needs ${checkpoint.needs.join(', ')}`,
  ].filter(Boolean)
  return (
    <li className={styles.checkpoint}>
      <span className={styles.number}>{number}</span>
      <div className={styles.description}>
        <h3>
          {checkpoint.checkpoint_name} <code>{checkpoint.key}</code>
        </h3>
        {checkpoint.checkpoint_description && <p>{checkpoint.checkpoint_description}</p>}
        {details.length > 0 && <p>{details.join(' · ')}</p>}
      </div>
      <span className={styles.mode}>
        <Icon size={16} stroke={1.6} aria-hidden="true" /> {modeLabel(summary.mode)}
      </span>
      <span className={styles.mode}>
        {approval !== null && (
          <>
            <IconUserCircle size={16} stroke={1.6} aria-hidden="true" /> {approval}
          </>
        )}
      </span>
      <span className={styles.outputs}>
        {summary.outputs.map((name) => (
          <code key={name}>{name}</code>
        ))}
      </span>
    </li>
  )
}

function approvalLabel({ needsStartApproval, needsCompletionApproval }: CheckpointSummary): string | null {
  if (needsStartApproval && needsCompletionApproval) return 'Approval to start and to complete'
  if (needsStartApproval) return 'Approval to start'
  return needsCompletionApproval ? 'Approval to complete' : null
}
