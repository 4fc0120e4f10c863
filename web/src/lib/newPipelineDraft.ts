import { deleteDraft, draftKey, readDraft, saveDraft } from './drafts'

const KEY = draftKey('new', 0, 'definition')

/** The draft of a new pipeline. It survives a reload. */
export const readNewPipelineDraft = () => String(readDraft(sessionStorage, KEY)?.text ?? '')
export const saveNewPipelineDraft = (text: string) => saveDraft(sessionStorage, KEY, { text })
export const deleteNewPipelineDraft = () => deleteDraft(sessionStorage, KEY)
