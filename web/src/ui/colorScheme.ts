import { localStorageColorSchemeManager } from '@mantine/core'

/** The same key that `public/scheme.js` reads before the first paint. */
export const schemeManager = localStorageColorSchemeManager({ key: 'cairn-scheme' })
