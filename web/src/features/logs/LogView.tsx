import { useDebouncedValue, useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import { pluralize } from '~/lib/formatting'
import { type LogFilter, type LogLevel, toText } from '~/lib/logs'
import { LoadingText } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { showToast } from '~/ui/toasts'
import styles from './Log.module.css'
import { LogLines } from './LogLines'
import { LogToolbar } from './LogToolbar'
import { useLog } from './useLog'

type Props = { runId: string; executionId: string; name: string }

/** The live log of an execution. */
export function LogView({ runId, executionId, name }: Props) {
  const [minLevel, setMinLevel] = useState<LogLevel>('debug')
  const [searchText, setSearchText] = useState('')
  const [search] = useDebouncedValue(searchText.trim(), 250)
  const [wrap, setWrap] = useLocalStorage({ key: 'cairn-log-wrap', defaultValue: true })
  const filter: LogFilter = { minLevel, search }
  const { lines, hasOlder, loadingOlder, error, readOlder, retry } = useLog(runId, executionId, filter)

  const copy = async () => {
    const all = lines ?? []
    await navigator.clipboard.writeText(toText(all))
    showToast(
      hasOlder
        ? `Copied the latest ${pluralize(all.length, 'line')}. Download the log to get all of them.`
        : `Copied ${pluralize(all.length, 'line')}.`,
    )
  }
  const filtered = minLevel !== 'debug' || search !== ''
  return (
    <div className={styles.frame}>
      <LogToolbar
        executionId={executionId}
        minLevel={minLevel}
        onMinLevel={setMinLevel}
        searchText={searchText}
        onSearchText={setSearchText}
        wrap={wrap}
        onWrap={setWrap}
        onCopy={lines !== undefined && lines.length > 0 ? () => void copy() : null}
      />
      {error !== null && (
        <div className={styles.error}>
          <LoadError title="Couldn't load the log." error={error} retry={retry} />
        </div>
      )}
      {lines === undefined ? (
        error === null && <LoadingText />
      ) : lines.length === 0 ? (
        <p className={styles.empty} role="status">
          {filtered ? 'No lines match.' : 'No log lines yet.'}
        </p>
      ) : (
        <LogLines
          key={`${minLevel} ${search}`}
          lines={lines}
          hasOlder={hasOlder}
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
