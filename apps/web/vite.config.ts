import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // The server's policy takes fonts and scripts from its own origin only, so nothing may become a data: URL.
  build: {
    assetsInlineLimit: 0,
    target: 'es2023',
    // The budget is 250 KB after gzip, and a test holds it.
    chunkSizeWarningLimit: 800,
    // Libraries change seldom: a browser keeps them while the pages change.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'vendor', test: /node_modules/ }] } } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4300', '/healthz': 'http://127.0.0.1:4300' } },
})
