import { deleteDraft, draftKey, readDraft, saveDraft } from './drafts'

const KEY = draftKey('new', 0, 'definition')

/** The definition of a new pipeline, as far as it is written: it survives a reload. */
export const readNewPipelineDraft = () => String(readDraft(sessionStorage, KEY)?.text ?? '')
export const saveNewPipelineDraft = (text: string) => saveDraft(sessionStorage, KEY, { text })
export const deleteNewPipelineDraft = () => deleteDraft(sessionStorage, KEY)
