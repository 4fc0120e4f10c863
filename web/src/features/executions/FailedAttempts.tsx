import type { Execution } from '~/api/types'
import { formatTime } from '~/lib/durations'
import { pluralize } from '~/lib/formatting'
import { Code } from '~/ui/Code'
import { useNow } from '~/ui/Time'
import styles from './FailedAttempts.module.css'

type FailedAttempt = Execution['error_details']['attempts'][number]

/**
 * The errors of all attempts, newest first, with the stack traces of user code. If the execution `failed`, the last
 * error is already shown above.
 */
export function FailedAttempts({ execution, failed }: { execution: Execution; failed: boolean }) {
  // Validation findings are shown separately.
  const hasFindings = execution.validations.some((validation) => !validation.passed)
  const attempts = failedAttempts(execution)
    .filter((attempt) => attempt.error_type !== 'not_valid' || !hasFindings)
    .toReversed()
  const now = useNow()
  if (attempts.length === 0) return null
  return (
    <section className={styles.attempts} aria-label="Failed attempts">
      <h3>
        {failed && attempts.length === 1 ? 'Error details' : pluralize(attempts.length, 'failed attempt')}
      </h3>
      <ol>
        {attempts.map((attempt, index) => (
          <li key={`${attempt.attempt_number} ${attempt.timestamp}`}>
            <p className={styles.header}>
              <strong>Attempt {attempt.attempt_number}</strong>
              {attempt.error_type !== '' && <code>{attempt.error_type}</code>}
              {attempt.timestamp !== null && (
                <time dateTime={attempt.timestamp} className={styles.time}>
                  {formatTime(attempt.timestamp, now)}
                </time>
              )}
            </p>
            {(!failed || index > 0) && <p className={styles.message}>{attempt.error_message}</p>}
            {attempt.stack_trace.trim() !== '' && (
              <details open={failed && index === 0}>
                <summary>Stack trace</summary>
                <Code
                  text={attempt.stack_trace.trimEnd()}
                  label={`Stack trace of attempt ${attempt.attempt_number}`}
                />
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Older executions stored only their last error. */
function failedAttempts({
  error_details: { attempts, last_error },
  attempt_number,
}: Execution): FailedAttempt[] {
  if (attempts.length > 0 || last_error === null) return attempts
  return [{ ...last_error, attempt_number }]
}
