/**
 * Starts sandboxes of a test's own process from the bundles of `programs.ts`: a thread costs 50 ms of CPU time instead of
 * 80 ms. Programs that tests start as processes use the source files.
 */
import type { Plugin } from 'vite'

export const bundledGuests: Plugin = {
  name: 'bundled-guests',
  transform(code, id) {
    if (!/code-mode\/sandbox\/(thread|process)\.ts$/.test(id)) return undefined
    const entry = /new URL\(['"]\.\.\/guest\/([\w-]+)\.ts['"], (?:import\.meta\.url|[\w.]+)\)/
    if (!entry.test(code)) throw new Error(`${id} names no entry of a sandbox.`)
    // Vitest keeps transformed modules on disk for the next run, so the folder of this run is read when the module runs.
    const folder = 'process.env.LOADOUT_TEST_PROGRAMS'
    const bundled = (source: string, name: string) =>
      `(${folder} === undefined ? ${source} : new URL(\`file://\${${folder}}/code-mode/guest/${name}.mjs\`))`
    return { code: code.replace(entry, bundled), map: null }
  },
}
