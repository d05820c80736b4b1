#!/usr/bin/env node
/** CLI entry point. Each command is one file in `commands/`, registered here. */
import { defineCommand, runMain } from 'citty'
import manifest from '../package.json' with { type: 'json' }

await runMain(
  defineCommand({
    meta: { name: 'loadout', version: manifest.version, description: 'The tool runtime of multi-user agent apps' },
    subCommands: {
      start: () => import('./commands/start.ts').then((module) => module.start),
      status: () => import('./commands/status.ts').then((module) => module.status),
      toolkits: () => import('./commands/toolkits.ts').then((module) => module.toolkits),
      tools: () => import('./commands/tools.ts').then((module) => module.tools),
      types: () => import('./commands/types.ts').then((module) => module.types),
      import: () => import('./commands/import.ts').then((module) => module.importConfig),
      export: () => import('./commands/export.ts').then((module) => module.exportConfig),
      audit: () => import('./commands/audit.ts').then((module) => module.audit),
      keys: () => import('./commands/keys.ts').then((module) => module.keys),
      backup: () => import('./commands/backup.ts').then((module) => module.backup),
      restore: () => import('./commands/restore.ts').then((module) => module.restore),
    },
  }),
)
