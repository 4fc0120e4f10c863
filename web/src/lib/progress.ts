import type { Execution, Run } from '~/api/types'

/** How far an execution at work says that it is. */
export type Progress = { fraction: number | null; text: string | null }
export type Told = Progress & { execution_id: string }

/** 0.455 → 45 %: it is never told as done before it is. */
export function percent(fraction: number): string {
  return `${Math.floor(Math.min(1, Math.max(0, fraction)) * 100)} %`
}

/** 45 %, reading rows. */
export function progressWords({ fraction, text }: Progress): string {
  return [fraction === null ? null : percent(fraction), text].filter(Boolean).join(', ')
}

/** The run with what was told in its trail. */
export function inRun(run: Run, told: readonly Told[]): Run {
  const of = new Map(told.map((each) => [each.execution_id, shown(each)]))
  const progress = <T extends { execution_id: string | null; progress: Progress | null }>(item: T): T =>
    item.execution_id !== null && of.has(item.execution_id)
      ? { ...item, progress: of.get(item.execution_id) ?? item.progress }
      : item
  return { ...run, trail: run.trail.map(progress), open: run.open.map(progress) }
}

export function inExecution(execution: Execution, told: Progress): Execution {
  return { ...execution, progress: shown(told) }
}

const shown = ({ fraction, text }: Progress): Progress => ({ fraction, text })
