import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { decide } from '~/api/commands'
import type { Approval } from '~/api/types'
import { asProblem, isStale, type Problem } from '~/lib/problems'
import { showToast } from '~/ui/toasts'

/**
 * What was shown first stays pinned: if it changes while somebody reads, that is said, and nothing is decided until
 * they looked again.
 */
export function usePinned<T>(
  digest: string,
  now: T,
): { shown: T; changed: boolean; showCurrent: () => void } {
  const [pinned, setPinned] = useState({ digest, shown: now })
  const changed = pinned.digest !== digest
  useEffect(() => {
    // What belongs to it may arrive after the question.
    if (!changed) setPinned({ digest, shown: now })
  }, [changed, digest, now])
  return { shown: pinned.shown, changed, showCurrent: () => setPinned({ digest, shown: now }) }
}

export type DecisionInput = { feedback?: string; reason?: string; modified_params?: Record<string, unknown> }

/** Takes decisions on what was shown; a refusal stays, and loses nothing. */
export function useDecision(
  shown: Pick<Approval, 'approval_id' | 'run_id' | 'digest'>,
  /** Told at once: what shows the refusal may be gone with the question. */
  onStale?: (problem: Problem) => void,
) {
  const client = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)

  /** True when it is stored. */
  const submit = async (decision: string, done: string, input: DecisionInput = {}): Promise<boolean> => {
    setBusy(decision)
    setProblem(null)
    try {
      await decide(shown, decision, input)
      showToast(done)
      return true
    } catch (error) {
      const failure = asProblem(error)
      setProblem(failure)
      if (isStale(failure)) onStale?.(failure)
      return false
    } finally {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['run', shown.run_id] }),
        client.invalidateQueries({ queryKey: ['approvals'] }),
      ])
      setBusy(null)
    }
  }
  const clearProblem = () => setProblem(null)
  return { busy, problem, submit, clearProblem }
}

export type DecisionState = ReturnType<typeof useDecision>
