/** The screens of activity, settings and the operator: see `screens-servers.e2e.test.ts`. */
import { checkScreens, GROUPS } from './check-screens.ts'

checkScreens(GROUPS.operation, process.env.LOADOUT_PROVE === 'full')
