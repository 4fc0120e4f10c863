import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react'
import type { Validation } from '~/api/types'
import { clock } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { SimulatedTag } from '~/ui/SimulatedTag'
import { useNow } from '~/ui/Time'
import styles from './Validations.module.css'

const BY: Record<Validation['by'], string> = {
  schema: 'Checked against what is declared',
  lenient: 'Near misses, judged by a model',
  custom: 'Judged by a model, as the checkpoint asks',
}

/** What was found of the results, the newest first; what passed at once is not told. */
export function Validations({ validations }: { validations: readonly Validation[] }) {
  const now = useNow()
  const told = validations.filter((one) => !one.passes || one.findings.length > 0 || one.reason !== '')
  if (told.length === 0) return null
  return (
    <section className={styles.validations} aria-label="Validation">
      <h3>Validation</h3>
      <ol>
        {told.toReversed().map((one) => (
          <li key={`${one.at} ${one.by} ${one.attempt_number}`}>
            <p className={styles.head}>
              <strong className={styles.verdict} data-passes={one.passes || undefined}>
                {one.passes ? <IconCircleCheckFilled size={15} /> : <IconCircleXFilled size={15} />}
                {one.passes ? 'Passes' : 'Does not pass'}
              </strong>
              <span>{BY[one.by]}</span>
              {one.is_simulated && <SimulatedTag />}
              <span className={styles.when}>
                {one.revision_iteration > 0 && `revision ${one.revision_iteration}, `}
                attempt {one.attempt_number}, {clock(one.at, now)}
              </span>
            </p>
            {one.reason !== '' && <blockquote className={styles.reason}>{one.reason}</blockquote>}
            {one.findings.length > 0 && (
              <ul aria-label={count(one.findings.length, 'finding')}>
                {one.findings.map((finding) => (
                  <Found key={`${finding.path} ${finding.message}`} {...finding} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** One place: where, why, what was wanted and what came. */
function Found({ path, message, expected, actual }: Validation['findings'][number]) {
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
