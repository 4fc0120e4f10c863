// Runs before the first paint, so that a dark page never flashes white.
;(() => {
  let choice = 'auto'
  try {
    choice = localStorage.getItem('cairn-scheme') || 'auto'
  } catch {
    // Storage may be off; the system's scheme serves.
  }
  const dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
