import { playwright } from '@vitest/browser-playwright'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { CHROMIUM, CHROMIUM_FLAGS } from './scripts/chromium.ts'
import { bundledGuests } from './test/bundled-guests.ts'
import LongestFirst from './test/longest-first.ts'

const SOURCES = ['packages', 'apps', 'examples', 'test']
const tests = (suffix: string) => SOURCES.map((folder) => `${folder}/**/*${suffix}.ts`)
const POSTGRES = './test/start-postgres.ts'
const PROGRAMS = './test/programs.ts'
const PGLITE = './test/prepare-pglite.ts'
/** A deadline for something that never happens. No load on a machine that works reaches it. */
const PATIENCE_MS = 180_000
/** Of two cores: most tests wait for a process, a page or a deadline about a third of the time. */
const WORKERS = 3
const POLL = { poll: { timeout: 60_000 } }
/** Tests of modules without I/O and without state: the files of a worker share what it has loaded. */
const PURE = ['util', 'schema', 'json-schema', 'ai', 'search', 'policy', 'toolkits/import']
  .map((folder) => `packages/loadout/src/${folder}/**/*.test.ts`)
  .concat(
    'packages/loadout/src/loadout/overlay.test.ts',
    'packages/loadout/src/audit/chain.test.ts',
    'apps/web/src/**/*.test.ts',
  )
/**
 * Tests that bound work by counting blocks (`newWork` of `test/prove/work.ts`). Counting slows a whole process down, and counts
 * only functions that are compiled after it began, so these files share processes with each other and with no other test.
 */
const COUNTED = [
  'apps/web/src/features/schema-form/read-schema.test.ts',
  'packages/loadout/src/audit/redact/redact-arguments.test.ts',
  'packages/loadout/src/catalog/scan/scan.test.ts',
  'packages/loadout/src/code-mode/declarations/declarations.test.ts',
  'packages/loadout/src/code-mode/sandbox/json.test.ts',
  'packages/loadout/src/schema/glob.test.ts',
  'packages/loadout/src/search/index/index-build.test.ts',
  'packages/loadout/src/search/searcher.test.ts',
  'packages/loadout/src/toolkits/secrets/secrets.test.ts',
  'packages/loadout/src/workflow/definition/read-definition.test.ts',
  'packages/loadout/src/workflow/expressions/expression.test.ts',
  'packages/loadout/test/code-mode/program-cost.test.ts',
  'packages/loadout/test/code-mode/programs-hostile.test.ts',
  'packages/loadout/test/code-mode/quickjs-hostile.test.ts',
  'packages/loadout/test/connections/faults.test.ts',
  'packages/loadout/test/schema/json-schema/hostile.test.ts',
  'packages/loadout/test/workflow/expression-cost.test.ts',
  'test/prove/work.test.ts',
]
/** `npm run smoke` waits for nothing but this test's browser. */
const SMOKE = 'test/smoke/smoke.e2e.test.ts'
/**
 * Tests that share no process: of the global `Request` and `Response`, which the HTTP server of other tests replaces,
 * and of another major version of a package.
 */
const ISOLATED = [
  'packages/loadout/test/ai/adapters/ai-sdk-6.wire.test.ts',
  'packages/loadout/src/connections/http/guard/guarded-fetch.test.ts',
  'packages/loadout/test/connections/guarded-fetch-sdk.test.ts',
]
const OTHER_KINDS = [
  '**/node_modules/**',
  '**/dist/**',
  ...['pg', 'browser', 'e2e'].map((kind) => `**/*.${kind}.test.ts`),
]

/** Vitest rewrites each `import()` to a function that only its own pages have, not a page of an example in a frame. */
const importInFrames: Plugin = {
  name: 'import-in-frames',
  transformIndexHtml: (_, { path }) =>
    path.includes('/examples/')
      ? [
          {
            tag: 'script',
            injectTo: 'head-prepend',
            children: 'globalThis.__vitest_browser_runner__ = { wrapDynamicImport: (load) => load() }',
          },
        ]
      : [],
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        plugins: [bundledGuests],
        test: {
          name: 'unit',
          include: tests('.test'),
          exclude: [...OTHER_KINDS, ...PURE, ...ISOLATED, ...COUNTED],
          setupFiles: './test/seed.ts',
          globalSetup: [PROGRAMS, PGLITE],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: 'isolated',
          include: ISOLATED,
          setupFiles: './test/seed.ts',
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        plugins: [bundledGuests],
        test: {
          name: 'counted',
          include: COUNTED,
          setupFiles: ['./test/prove/start-counting.ts', './test/seed.ts'],
          globalSetup: [PROGRAMS, PGLITE],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: 'pure',
          include: PURE,
          exclude: [...OTHER_KINDS, ...COUNTED],
          setupFiles: './test/seed.ts',
          globalSetup: PGLITE,
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        plugins: [bundledGuests],
        test: {
          name: 'postgres',
          include: tests('.pg.test'),
          globalSetup: [POSTGRES, PROGRAMS],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        plugins: [importInFrames],
        test: {
          name: 'browser',
          include: tests('.browser.test'),
          globalSetup: './test/start-page-servers.ts',
          testTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: { executablePath: CHROMIUM, args: CHROMIUM_FLAGS } }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        test: {
          name: 'smoke',
          include: [SMOKE],
          globalSetup: './test/start-chromium.ts',
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: 'e2e',
          include: tests('.e2e.test'),
          exclude: ['**/node_modules/**', '**/dist/**', SMOKE],
          globalSetup: [POSTGRES, PROGRAMS, PGLITE, './test/start-chromium.ts'],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          expect: POLL,
          maxWorkers: WORKERS,
        },
      },
    ],
  },
})
