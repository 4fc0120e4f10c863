import { IconAntennaBars2, IconAntennaBars3, IconAntennaBars5 } from '@tabler/icons-react'
import type { RiskLevel } from '~/api/types'
import styles from './RiskTag.module.css'

const ICONS = {
  low: IconAntennaBars2,
  medium: IconAntennaBars3,
  high: IconAntennaBars5,
  critical: IconAntennaBars5,
}

/** The risk level of an action. It is not a state, so it uses bars instead of colour. */
export function RiskTag({ risk }: { risk: RiskLevel }) {
  const Icon = ICONS[risk]
  return (
    <span className={styles.risk} data-risk={risk}>
      <Icon size={15} aria-hidden="true" />
      {riskLabel(risk)} risk
    </span>
  )
}

export const riskLabel = (risk: RiskLevel) => risk.charAt(0).toUpperCase() + risk.slice(1)
