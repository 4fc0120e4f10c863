/** Unsent input, saved in the tab so that it survives a reload. */
export type Draft = Record<string, unknown>
type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const PREFIX = 'cairn-draft:'

/** Each revision has its own draft. */
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

/** A full or disabled storage must not prevent typing. */
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
    // There is nothing to delete.
  }
}
