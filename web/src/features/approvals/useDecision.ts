import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { decide } from '~/api/commands'
import type { Approval, DecideRequest } from '~/api/types'
import { asProblem, isStale, type Problem } from '~/lib/problems'
import { showToast } from '~/ui/toasts'

/**
 * Pins the content that was shown first. If it changes, the user is warned and can't decide until they have viewed
 * the current version.
 */
export function usePinned<T>(
  digest: string,
  now: T,
): { shown: T; changed: boolean; showCurrent: () => void } {
  const [pinned, setPinned] = useState({ digest, shown: now })
  const changed = pinned.digest !== digest
  useEffect(() => {
    // Related data can arrive after the approval.
    if (!changed) setPinned({ digest, shown: now })
  }, [changed, digest, now])
  return { shown: pinned.shown, changed, showCurrent: () => setPinned({ digest, shown: now }) }
}

export type DecisionInput = Omit<DecideRequest, 'digest'>

type Submission = { decision: string; done: string; input: DecisionInput }

/** Submits decisions on the content that was shown. */
export function useDecision(
  shown: Pick<Approval, 'approval_id' | 'run_id' | 'digest'>,
  /** Called immediately, because the component can be unmounted with the approval. */
  onStale?: (problem: Problem) => void,
) {
  const client = useQueryClient()
  const { mutateAsync, isPending, variables, error, reset } = useMutation({
    mutationFn: ({ decision, input }: Submission) => decide(shown, decision, input),
    onSuccess: (_, { done }) => showToast(done),
    onError: (failure) => {
      const problem = asProblem(failure)
      if (isStale(problem)) onStale?.(problem)
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['run', shown.run_id] }),
        client.invalidateQueries({ queryKey: ['approvals'] }),
      ]),
  })
  /** True when the decision is stored. */
  const submit = (decision: string, done: string, input: DecisionInput = {}): Promise<boolean> =>
    mutateAsync({ decision, done, input }).then(
      () => true,
      () => false,
    )
  return {
    busy: isPending ? variables.decision : null,
    problem: error === null ? null : asProblem(error),
    submit,
    clearProblem: reset,
  }
}

export type DecisionState = ReturnType<typeof useDecision>
