import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { keepBraces } from './code.ts'
import { renderDiagrams } from './diagrams.ts'
import { linkSources } from './links.ts'
import { sidebar } from './sections.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export default defineConfig({
  vite: { esbuild: { target: 'es2022', tsconfigRaw: {} } },
  title: 'Loadout',
  description: 'The TypeScript tool runtime for multi-user agent apps.',
  lang: 'en-US',
  cleanUrls: true,
  lastUpdated: false,
  outDir: fileURLToPath(new URL('../../dist/docs', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../../node_modules/.cache/vitepress', import.meta.url)),
  markdown: {
    config: (md) => {
      keepBraces(md)
      renderDiagrams(md)
      linkSources(md)
    },
  },
  themeConfig: {
    nav: [
      { text: 'Get started', link: '/get-started/install' },
      { text: 'Guides', link: '/guides/integrate/apps' },
      { text: 'Operate', link: '/operate/users' },
      { text: 'User guide', link: '/user-guide/' },
      { text: 'Concepts', link: '/concepts/loadouts' },
      { text: 'Reference', link: '/reference/configuration' },
    ],
    sidebar: sidebar(root),
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
