/** What a person typed into a form, kept in the tab until it is sent, so that a reload loses nothing. */
export type Draft = Record<string, unknown>
type Keep = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const PREFIX = 'cairn-draft:'

/** A revision is a new question: its draft is its own. */
export function draftKey(executionId: string, revision: number, what = 'form'): string {
  return `${PREFIX}${what}:${executionId}:${revision}`
}

export function readDraft(keep: Keep, key: string): Draft | null {
  try {
    const text = keep.getItem(key)
    const value: unknown = text === null ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : null
  } catch {
    return null
  }
}

/** A full or forbidden storage must not stop the typing. */
export function keepDraft(keep: Keep, key: string, draft: Draft): boolean {
  try {
    keep.setItem(key, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function dropDraft(keep: Keep, key: string): void {
  try {
    keep.removeItem(key)
  } catch {
    // Nothing was kept, so that nothing is left behind.
  }
}
