/** What a person typed into a form, kept in the tab until it is sent, so that a reload loses nothing. */
export type Draft = Record<string, unknown>
type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const PREFIX = 'cairn-draft:'

/** A revision is a new question: its draft is its own. */
export function draftKey(executionId: string, revision: number, name = 'form'): string {
  return `${PREFIX}${name}:${executionId}:${revision}`
}

export function readDraft(storage: DraftStorage, key: string): Draft | null {
  try {
    const text = storage.getItem(key)
    const value: unknown = text === null ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : null
  } catch {
    return null
  }
}

/** A full or forbidden storage must not stop the typing. */
export function saveDraft(storage: DraftStorage, key: string, draft: Draft): boolean {
  try {
    storage.setItem(key, JSON.stringify(draft))
    return true
  } catch {
    return false
  }
}

export function deleteDraft(storage: DraftStorage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // Nothing was kept, so that nothing is left behind.
  }
}
