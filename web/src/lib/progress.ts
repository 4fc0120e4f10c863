import type { Execution, Run } from '~/api/types'

/** The reported progress of an execution. */
export type Progress = { fraction: number | null; text: string | null }
export type ProgressUpdate = Progress & { execution_id: string }

/** 0.455 → 45%. Rounds down, so that 100% means completed. */
export function formatPercent(fraction: number): string {
  return `${Math.floor(Math.min(1, Math.max(0, fraction)) * 100)}%`
}

/** 45%, reading rows. */
export function progressText({ fraction, text }: Progress): string {
  return [fraction === null ? null : formatPercent(fraction), text].filter(Boolean).join(', ')
}

/** Adds progress updates to a run. */
export function applyProgressToRun(run: Run, updates: readonly ProgressUpdate[]): Run {
  const byExecution = new Map(updates.map((each) => [each.execution_id, progressOf(each)]))
  const progress = <T extends { execution_id: string | null; progress: Progress | null }>(item: T): T =>
    item.execution_id !== null && byExecution.has(item.execution_id)
      ? { ...item, progress: byExecution.get(item.execution_id) ?? item.progress }
      : item
  return {
    ...run,
    checkpoints: run.checkpoints.map(progress),
    open_executions: run.open_executions.map(progress),
  }
}

export function applyProgressToExecution(execution: Execution, update: Progress): Execution {
  return { ...execution, progress: progressOf(update) }
}

const progressOf = ({ fraction, text }: Progress): Progress => ({ fraction, text })
