import type { Execution } from '~/api/types'
import { clock } from '~/lib/durations'
import { count } from '~/lib/formatting'
import { Code } from '~/ui/Code'
import { useNow } from '~/ui/Time'
import styles from './FailedAttempts.module.css'

type Fault = Execution['error_details']['attempts'][number]

/**
 * What went wrong, attempt by attempt, the newest first; the lines of the user's own code unfold. How it `failed` in the
 * end is said above it already.
 */
export function Faults({ execution, failed }: { execution: Execution; failed: boolean }) {
  // What validation has found is told by itself.
  const isTold = execution.validations.some((validation) => !validation.passes)
  const faults = faultsOf(execution)
    .filter((fault) => fault.error_type !== 'not_valid' || !isTold)
    .toReversed()
  const now = useNow()
  if (faults.length === 0) return null
  return (
    <section className={styles.faults} aria-label="What went wrong">
      <h3>{failed && faults.length === 1 ? 'What went wrong' : count(faults.length, 'failed attempt')}</h3>
      <ol>
        {faults.map((fault, index) => (
          <li key={`${fault.attempt_number} ${fault.timestamp}`}>
            <p className={styles.head}>
              <strong>Attempt {fault.attempt_number}</strong>
              {fault.error_type !== '' && <code>{fault.error_type}</code>}
              {fault.timestamp !== null && (
                <time dateTime={fault.timestamp} className={styles.when}>
                  {clock(fault.timestamp, now)}
                </time>
              )}
            </p>
            {(!failed || index > 0) && <p className={styles.message}>{fault.error_message}</p>}
            {fault.stack_trace.trim() !== '' && (
              <details open={failed && index === 0}>
                <summary>Where it happened</summary>
                <Code
                  text={fault.stack_trace.trimEnd()}
                  label={`Where attempt ${fault.attempt_number} failed`}
                />
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Of an attempt from before errors were kept one by one, the last is known. */
function faultsOf({ error_details: { attempts, last_error }, attempt_number }: Execution): Fault[] {
  if (attempts.length > 0 || last_error === null) return attempts
  return [{ ...last_error, attempt_number }]
}
