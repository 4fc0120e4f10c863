import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { modificationPreview } from '~/api/approvals'
import type { Change } from '~/api/types'
import type { Parameters } from '~/lib/actions'
import { writeJson } from '~/lib/json'

const PAUSE = 200

/** What the server makes of a patch, as it is typed. */
export function usePreview(approvalId: string, patch: Parameters, enabled: boolean) {
  const written = writeJson(patch)
  const [settled] = useDebouncedValue(written, PAUSE)
  const { data, error, isPlaceholderData } = useQuery({
    ...modificationPreview(approvalId, settled),
    enabled: enabled && settled === written,
    placeholderData: keepPreviousData,
  })
  const faults: Record<string, string> = {}
  const other: string[] = []
  for (const { path, message } of data?.validation.errors ?? []) {
    const name = path.split('/')[1]
    if (name) faults[name] ??= message
    else other.push(message)
  }
  if (error !== null) other.push(error.message)
  const diff: readonly Change[] = data?.diff ?? []
  return {
    diff,
    faults,
    other,
    parameters: data?.parameters as Parameters | undefined,
    passed: data?.validation.passed ?? false,
    isSettled: settled === written && !isPlaceholderData && error === null,
  }
}
