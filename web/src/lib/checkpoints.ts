import type { Checkpoint } from '~/api/types'

/** What the app needs of a checkpoint's definition, whose parts the API leaves open. */
export type Gist = { mode: string; asksToStart: boolean; asksToComplete: boolean; outputs: string[] }

type Part = Record<string, unknown>

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null

function outputName(value: unknown): string[] {
  if (!isPart(value) || typeof value.name !== 'string') return []
  const format = typeof value.format === 'string' ? `.${value.format}` : ''
  return [value.name.endsWith(format) ? value.name : value.name + format]
}

export function gistOf({ execution, human_interaction: asks, output }: Checkpoint): Gist {
  return {
    mode: typeof execution.mode === 'string' ? execution.mode : '',
    asksToStart: asks.requires_approval_to_start === true,
    asksToComplete: asks.requires_approval_to_complete === true,
    outputs: Array.isArray(output.artifacts) ? output.artifacts.flatMap(outputName) : [],
  }
}
