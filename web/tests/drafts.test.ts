import { beforeEach, describe, expect, it } from 'vitest'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'

const KEY = draftKey('execution', 1)

beforeEach(() => sessionStorage.clear())

describe('drafts', () => {
  it('survive a reload until they are deleted', () => {
    expect(readDraft(sessionStorage, KEY)).toBeNull()
    expect(saveDraft(sessionStorage, KEY, { name: 'ACME', critical: true })).toBe(true)
    expect(readDraft(sessionStorage, KEY)).toEqual({ name: 'ACME', critical: true })
    deleteDraft(sessionStorage, KEY)
    expect(readDraft(sessionStorage, KEY)).toBeNull()
  })
  it('belong to one revision', () => {
    saveDraft(sessionStorage, KEY, { name: 'ACME' })
    expect(readDraft(sessionStorage, draftKey('execution', 2))).toBeNull()
  })
  it('do not prevent typing when the storage is full or disabled', () => {
    const closed = {
      getItem: () => {
        throw new Error('forbidden')
      },
      setItem: () => {
        throw new Error('full')
      },
      removeItem: () => {
        throw new Error('forbidden')
      },
    }
    expect(saveDraft(closed, KEY, {})).toBe(false)
    expect(readDraft(closed, KEY)).toBeNull()
    expect(() => deleteDraft(closed, KEY)).not.toThrow()
  })
  it('are ignored if they are invalid', () => {
    sessionStorage.setItem(KEY, '[1]')
    expect(readDraft(sessionStorage, KEY)).toBeNull()
    sessionStorage.setItem(KEY, '{')
    expect(readDraft(sessionStorage, KEY)).toBeNull()
  })
})
