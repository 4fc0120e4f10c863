import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '~': new URL('./src', import.meta.url).pathname } },
  build: {
    outDir: '../src/cairn/api/static',
    emptyOutDir: true,
    // The CSP allows fonts and images from the server itself, and inlined fonts would weigh on every first load.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8700' } },
  test: { environment: 'happy-dom', include: ['tests/**/*.test.{ts,tsx}'] },
})
