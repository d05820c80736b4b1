import { toNextHandler } from '@loadout/server/next'
import { loadout } from '../../../lib/loadout'

export const { GET, POST, PUT, PATCH, DELETE } = toNextHandler(loadout)
