import { IconAntennaBars2, IconAntennaBars3, IconAntennaBars5 } from '@tabler/icons-react'
import type { Risk } from '~/api/types'
import styles from './RiskTag.module.css'

const SIGNS = {
  low: IconAntennaBars2,
  medium: IconAntennaBars3,
  high: IconAntennaBars5,
  critical: IconAntennaBars5,
}

/** How risky an action is. Not a state: bars, and weight. */
export function RiskTag({ risk }: { risk: Risk }) {
  const Sign = SIGNS[risk]
  return (
    <span className={styles.risk} data-risk={risk}>
      <Sign size={15} aria-hidden="true" />
      {riskWord(risk)} risk
    </span>
  )
}

export const riskWord = (risk: Risk) => risk.charAt(0).toUpperCase() + risk.slice(1)
