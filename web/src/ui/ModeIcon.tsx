import { IconCode, IconForms, IconFunction, IconRobot } from '@tabler/icons-react'

const MODES: Record<string, typeof IconForms> = {
  human_only: IconForms,
  function: IconFunction,
  script: IconCode,
  agentic: IconRobot,
}

/** Who carries a checkpoint out, as a sign beside its name. */
export function ModeIcon({ mode }: { mode: string }) {
  const Icon = MODES[mode] ?? IconCode
  return <Icon size={14} stroke={1.6} aria-hidden="true" />
}
