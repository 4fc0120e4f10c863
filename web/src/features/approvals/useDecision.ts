import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { decide } from '~/api/commands'
import type { Approval } from '~/api/types'
import { asProblem, isStale, type Problem } from '~/lib/problems'
import { tell } from '~/ui/toasts'

/**
 * What was shown first stays pinned: if it changes while somebody reads, that is said, and nothing is decided until
 * they looked again.
 */
export function usePinned<T>(digest: string, now: T): { shown: T; changed: boolean; look: () => void } {
  const [pinned, setPinned] = useState({ digest, shown: now })
  const changed = pinned.digest !== digest
  useEffect(() => {
    // What belongs to it may arrive after the question.
    if (!changed) setPinned({ digest, shown: now })
  }, [changed, digest, now])
  return { shown: pinned.shown, changed, look: () => setPinned({ digest, shown: now }) }
}

export type Said = { feedback?: string; reason?: string; modified_params?: Record<string, unknown> }

/** Takes decisions on what was shown; a refusal stays, and loses nothing. */
export function useDeciding(
  shown: Pick<Approval, 'approval_id' | 'run_id' | 'digest'>,
  /** Told at once: what shows the refusal may be gone with the question. */
  onTooLate?: (problem: Problem) => void,
) {
  const client = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)

  /** True when it is stored. */
  const take = async (decision: string, done: string, said: Said = {}): Promise<boolean> => {
    setBusy(decision)
    setProblem(null)
    try {
      await decide(shown, decision, said)
      tell(done)
      return true
    } catch (error) {
      const refusal = asProblem(error)
      setProblem(refusal)
      if (isStale(refusal)) onTooLate?.(refusal)
      return false
    } finally {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['run', shown.run_id] }),
        client.invalidateQueries({ queryKey: ['approvals'] }),
      ])
      setBusy(null)
    }
  }
  const forget = () => setProblem(null)
  return { busy, problem, take, forget }
}

export type Deciding = ReturnType<typeof useDeciding>
