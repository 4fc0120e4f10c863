import { ActionIcon, Button, Input, TextInput, Tooltip } from '@mantine/core'
import { IconCopy, IconDownload, IconSearch, IconSelector, IconTextWrap } from '@tabler/icons-react'
import { useMemo, useRef } from 'react'
import type { LogLevel } from '~/lib/logs'
import { useShortcuts } from '~/lib/shortcuts'
import styles from './Log.module.css'

type Props = {
  executionId: string
  minLevel: LogLevel
  onMinLevel: (minLevel: LogLevel) => void
  searchText: string
  onSearchText: (searchText: string) => void
  wrap: boolean
  onWrap: (wrap: boolean) => void
  /** Null while there is nothing to copy. */
  onCopy: (() => void) | null
}

const LEVEL_OPTIONS: { value: LogLevel; label: string }[] = [
  { value: 'debug', label: 'All levels' },
  { value: 'info', label: 'Info and above' },
  { value: 'warning', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors only' },
]

/** Filters and actions of the log. */
export function LogToolbar({
  executionId,
  minLevel,
  onMinLevel,
  searchText,
  onSearchText,
  wrap,
  onWrap,
  onCopy,
}: Props) {
  const field = useRef<HTMLInputElement>(null)
  const keys = useMemo(() => ({ '/': () => field.current?.focus() }), [])
  useShortcuts(keys)
  return (
    <search className={styles.tools} aria-label="Log">
      <TextInput
        ref={field}
        className={styles.search}
        aria-label="Search the log"
        placeholder="Search the log"
        type="search"
        leftSection={<IconSearch size={15} />}
        value={searchText}
        onChange={(event) => onSearchText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onSearchText('')
        }}
      />
      <Input
        component="select"
        className={styles.level}
        aria-label="Log level"
        value={minLevel}
        onChange={(event) => onMinLevel(event.currentTarget.value as LogLevel)}
        rightSection={<IconSelector size={15} />}
        rightSectionPointerEvents="none"
        pointer
      >
        {LEVEL_OPTIONS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Input>
      <span className={styles.buttons}>
        <Tooltip label={wrap ? 'Line wrapping is on' : 'Line wrapping is off'}>
          <ActionIcon aria-label="Wrap long lines" aria-pressed={wrap} onClick={() => onWrap(!wrap)}>
            <IconTextWrap size={17} />
          </ActionIcon>
        </Tooltip>
        {navigator.clipboard !== undefined && (
          <Tooltip label="Copy loaded lines">
            <ActionIcon
              aria-label="Copy loaded lines"
              disabled={onCopy === null}
              onClick={onCopy ?? undefined}
            >
              <IconCopy size={17} />
            </ActionIcon>
          </Tooltip>
        )}
        <Button
          component="a"
          href={`/api/executions/${executionId}/logs/download`}
          download
          leftSection={<IconDownload size={16} />}
        >
          Download<span className="unseen"> full log</span>
        </Button>
      </span>
    </search>
  )
}
