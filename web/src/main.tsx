import '@fontsource-variable/inter/opsz.css'
import '~/ui/core.css'
import '~/ui/tokens.css'
import '~/ui/mantine.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '~/app/App'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
