import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const EVERYWHERE =
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-query|query-core|react-router|router-core|history|react-store|store|react-form|form-core)|hono|clsx|tailwind-merge|class-variance-authority|sonner)\//

/** Icons and our own pieces are a few hundred bytes each: one by one they would be most of what a first page asks for. */
const GROUPS = [
  { name: 'vendor', test: EVERYWHERE },
  { name: 'icons', test: /node_modules\/lucide-react\// },
  {
    name: 'primitives',
    test: /node_modules\/(@radix-ui|radix-ui|@floating-ui|aria-hidden|react-remove-scroll|react-style-singleton)/,
  },
  // The pieces that pages are made of, without the libraries that a few of them bring.
  { name: 'ui', test: /apps\/web\/src\/ui\/(?!.*(code-mirror|long-list))/, includeDependenciesRecursively: false },
  // What the first page has in common with others.
  {
    name: 'shared',
    test: /apps\/web\/src\/(lib|features\/(shell|servers))\//,
    minShareCount: 2,
    includeDependenciesRecursively: false,
  },
]

/** Its styles come with ours, as a file: written into the page by its script, they would be against the server's policy. */
const sonnerWithoutStyles: Plugin = {
  name: 'sonner-without-styles',
  transform: {
    filter: { id: /node_modules\/sonner\/dist\/index\.mjs/ },
    handler(code) {
      const left = code.replace(/^__insertCSS\(".*"\);$/m, '')
      if (left === code) throw new Error('sonner no longer inserts its styles as it did: see vite.config.ts.')
      return { code: left, map: null }
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  // The server may be mounted at any path, so built files find each other relatively.
  base: './',
  plugins: [react(), tailwindcss(), sonnerWithoutStyles],
  // The chat's hook brings a copy of its own, one patch away.
  resolve: { dedupe: ['ai'] },
  // The server's policy takes fonts and scripts from its own origin only, so nothing may become a data: URL.
  build: {
    assetsInlineLimit: 0,
    target: 'es2023',
    // The budget is 250 KB after gzip, and a test holds it.
    chunkSizeWarningLimit: 800,
    // What every page needs changes seldom: a browser keeps it while the pages change. The rest comes with its page.
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4300', '/healthz': 'http://127.0.0.1:4300' } },
})
