import type { Checkpoint } from '~/api/types'

/** The parts of a checkpoint's definition that the app shows. The API does not type them. */
export type CheckpointSummary = {
  mode: string
  needsStartApproval: boolean
  needsCompletionApproval: boolean
  outputs: string[]
}

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

function outputName(value: unknown): string[] {
  if (!isObject(value) || typeof value.name !== 'string') return []
  const format = typeof value.format === 'string' ? `.${value.format}` : ''
  return [value.name.endsWith(format) ? value.name : value.name + format]
}

export function summarizeCheckpoint({
  execution,
  human_interaction: interaction,
  output,
}: Checkpoint): CheckpointSummary {
  return {
    mode: typeof execution.mode === 'string' ? execution.mode : '',
    needsStartApproval: interaction.requires_approval_to_start === true,
    needsCompletionApproval: interaction.requires_approval_to_complete === true,
    outputs: Array.isArray(output.artifacts) ? output.artifacts.flatMap(outputName) : [],
  }
}
