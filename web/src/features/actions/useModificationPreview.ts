import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { modificationPreview } from '~/api/approvals'
import type { ParameterChange } from '~/api/types'
import type { Parameters } from '~/lib/actions'
import { writeJson } from '~/lib/json'

const TYPING_DELAY = 200

/** Previews a patch on the server while the user types. */
export function useModificationPreview(approvalId: string, patch: Parameters, enabled: boolean) {
  const serialized = writeJson(patch)
  const [debounced] = useDebouncedValue(serialized, TYPING_DELAY)
  const { data, error, isPlaceholderData } = useQuery({
    ...modificationPreview(approvalId, debounced),
    enabled: enabled && debounced === serialized,
    placeholderData: keepPreviousData,
  })
  const errors: Record<string, string> = {}
  const otherErrors: string[] = []
  for (const { path, message } of data?.validation.errors ?? []) {
    const name = path.split('/')[1]
    if (name) errors[name] ??= message
    else otherErrors.push(message)
  }
  if (error !== null) otherErrors.push(error.message)
  const diff: readonly ParameterChange[] = data?.diff ?? []
  return {
    diff,
    errors,
    otherErrors,
    parameters: data?.parameters as Parameters | undefined,
    isValid: data?.validation.passed ?? false,
    isSettled: debounced === serialized && !isPlaceholderData && error === null,
  }
}
