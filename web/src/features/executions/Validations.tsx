import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react'
import type { Validation } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { SimulatedTag } from '~/ui/SimulatedTag'
import { useNow } from '~/ui/Time'
import styles from './Validations.module.css'

const VALIDATOR_LABELS: Record<Validation['check'], string> = {
  schema: 'Checked against the schema',
  lenient: 'Minor deviations, judged by a model',
  custom: 'Judged by a model with the criteria of the checkpoint',
}

/** Validations of the results, newest first. Those that passed without findings are omitted. */
export function Validations({ validations }: { validations: readonly Validation[] }) {
  const now = useNow()
  const shown = validations.filter(
    (validation) => !validation.passed || validation.findings.length > 0 || validation.reason !== '',
  )
  if (shown.length === 0) return null
  return (
    <section className={styles.validations} aria-label="Validation">
      <h3>Validation</h3>
      <ol>
        {shown.toReversed().map((validation) => (
          <li key={`${validation.at} ${validation.check} ${validation.attempt_number}`}>
            <p className={styles.header}>
              <strong className={styles.verdict} data-passed={validation.passed || undefined}>
                {validation.passed ? <IconCircleCheckFilled size={15} /> : <IconCircleXFilled size={15} />}
                {validation.passed ? 'Passed' : 'Failed'}
              </strong>
              <span>{VALIDATOR_LABELS[validation.check]}</span>
              {validation.is_simulated && <SimulatedTag />}
              <span className={styles.time}>
                {validation.revision_iteration > 0 && `revision ${validation.revision_iteration}, `}
                attempt {validation.attempt_number}, {formatTime(validation.at, now)}
              </span>
            </p>
            {validation.reason !== '' && (
              <blockquote className={styles.reason}>{validation.reason}</blockquote>
            )}
            {validation.findings.length > 0 && (
              <ul aria-label={pluralize(validation.findings.length, 'finding')}>
                {validation.findings.map((finding) => (
                  <ValidationFinding key={`${finding.path} ${finding.message}`} {...finding} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** One finding with its path and the expected and actual values. */
function ValidationFinding({ path, message, expected, actual }: Validation['findings'][number]) {
  return (
    <li className={styles.finding}>
      <p>
        <code>{path}</code> {message}
      </p>
      {(expected !== '' || actual !== '') && (
        <dl>
          {expected !== '' && (
            <div>
              <dt>Expected</dt>
              <dd>{expected}</dd>
            </div>
          )}
          {actual !== '' && (
            <div>
              <dt>Actual</dt>
              <dd>{actual}</dd>
            </div>
          )}
        </dl>
      )}
    </li>
  )
}
