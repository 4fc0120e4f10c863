import { Radio } from '@mantine/core'
import type { ActionDetail } from '~/api/types'
import { humanize, toLine } from '~/lib/actions'
import { formatValue } from '~/lib/json'
import { Section } from '~/ui/Page'
import { Time } from '~/ui/Time'
import styles from './ActionDetails.module.css'

export type OnRepeat = 'use_earlier' | 'execute_again'

type Props = {
  action: ActionDetail
  value: OnRepeat | null
  /** Without it, the earlier actions are only listed. */
  onChange?: (value: OnRepeat) => void
}

/** The earlier actions that an action repeats, and the choice between their result and another execution. */
export function RepeatChoice({ action, value, onChange }: Props) {
  if (action.repeats.length === 0) return null
  const hasResult = action.repeats.some((earlier) => earlier.state === 'done')
  return (
    <Section title="Earlier actions" count={action.repeats.length}>
      <ul className={styles.repeats}>
        {action.repeats.map((earlier) => (
          <li key={earlier.action_id}>
            <strong>{humanize(earlier.state)}</strong> {earlier.summary}{' '}
            {earlier.proposed_at !== null && (
              <Time at={earlier.ended_at ?? earlier.started_at ?? earlier.proposed_at} />
            )}
            {earlier.result != null && (
              <pre>
                {typeof earlier.result === 'string' ? toLine(earlier.result) : formatValue(earlier.result)}
              </pre>
            )}
          </li>
        ))}
      </ul>
      {onChange && (
        <Radio.Group
          label="Choose what approving does"
          value={value ?? ''}
          onChange={(chosen) => onChange(chosen as OnRepeat)}
        >
          {hasResult && <Radio mt={8} value="use_earlier" label="Use the earlier result" />}
          <Radio mt={8} value="execute_again" label="Execute again" />
        </Radio.Group>
      )}
    </Section>
  )
}
