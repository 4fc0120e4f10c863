import { IconCode, IconForms, IconFunction, IconRobot } from '@tabler/icons-react'

const MODES: Record<string, typeof IconForms> = {
  human_only: IconForms,
  function: IconFunction,
  script: IconCode,
  agentic: IconRobot,
}

/** The execution mode of a checkpoint as an icon. */
export function ModeIcon({ mode }: { mode: string }) {
  const Icon = MODES[mode] ?? IconCode
  return <Icon size={14} stroke={1.6} aria-hidden="true" />
}
