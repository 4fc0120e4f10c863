import { draftKey, dropDraft, keepDraft, readDraft } from './drafts'

const KEY = draftKey('new', 0, 'definition')

/** The definition of a new pipeline, as far as it is written: it survives a reload. */
export const readNew = () => String(readDraft(sessionStorage, KEY)?.text ?? '')
export const keepNew = (text: string) => keepDraft(sessionStorage, KEY, { text })
export const dropNew = () => dropDraft(sessionStorage, KEY)
