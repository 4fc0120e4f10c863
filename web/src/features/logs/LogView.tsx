import { useDebouncedValue, useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import { count } from '~/lib/formatting'
import { asText, type LogFilter, type Threshold } from '~/lib/logs'
import { LoadingText } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { tell } from '~/ui/toasts'
import styles from './Log.module.css'
import { LogLines } from './LogLines'
import { LogTools } from './LogToolbar'
import { useLog } from './useLog'

type Props = { runId: string; executionId: string; name: string }

/** The log of an execution, live: the newest lines first, older ones when somebody scrolls up to them. */
export function LogView({ runId, executionId, name }: Props) {
  const [from, setFrom] = useState<Threshold>('debug')
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 250)
  const [wrap, setWrap] = useLocalStorage({ key: 'cairn-log-wrap', defaultValue: true })
  const filter: LogFilter = { from, search }
  const { lines, older, loadingOlder, error, readOlder, again } = useLog(runId, executionId, filter)

  const copy = async () => {
    const all = lines ?? []
    await navigator.clipboard.writeText(asText(all))
    tell(
      older
        ? `The newest ${count(all.length, 'line')} copied. Download for all of them.`
        : `${count(all.length, 'line')} copied.`,
    )
  }
  const filtered = from !== 'debug' || search !== ''
  return (
    <div className={styles.frame}>
      <LogTools
        executionId={executionId}
        from={from}
        onFrom={setFrom}
        typed={typed}
        onTyped={setTyped}
        wrap={wrap}
        onWrap={setWrap}
        onCopy={lines !== undefined && lines.length > 0 ? () => void copy() : null}
      />
      {error !== null && (
        <div className={styles.fault}>
          <Failure what="The log could not be read." error={error} retry={again} />
        </div>
      )}
      {lines === undefined ? (
        error === null && <LoadingText />
      ) : lines.length === 0 ? (
        <p className={styles.none} role="status">
          {filtered ? 'No line of the log is like that.' : 'Nothing is logged yet.'}
        </p>
      ) : (
        <LogLines
          key={`${from} ${search}`}
          lines={lines}
          older={older}
          loadingOlder={loadingOlder}
          onOlder={readOlder}
          search={search}
          wrap={wrap}
          label={`Log of ${name}`}
        />
      )}
    </div>
  )
}
