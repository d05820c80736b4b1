/** The screens of activity, settings and the operator: see `looks.e2e.test.ts`. */
import { GROUPS, lookAt } from './look-at.ts'

lookAt(GROUPS.operation, process.env.LOADOUT_PROVE === 'full')
