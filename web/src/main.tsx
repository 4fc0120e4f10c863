import '@fontsource-variable/inter/opsz.css'
import './ui/tokens.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Mark } from './ui/Mark'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Mark size={32} />
    </StrictMode>,
  )
}
