import { configFromEnvironment } from '@loadout/server/config'

/** Flags of every command. */
export const COMMON = {
  json: { type: 'boolean', description: 'Print JSON, for programs', default: false },
  'data-dir': { type: 'string', description: 'The data folder (LOADOUT_DATA_DIR)', valueHint: 'folder' },
} as const

export function configFrom(args: { 'data-dir'?: string | undefined }) {
  return configFromEnvironment({ LOADOUT_DATA_DIR: args['data-dir'] })
}
