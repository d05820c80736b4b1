/** Every screen of every page: the tests look at them with axe, and `npm run screenshots` shows some. */
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import * as activity from './activity.ts'
import * as approvals from './approvals.ts'
import * as connectors from './connectors.ts'
import * as custom from './custom.ts'
import * as operator from './operator.ts'
import * as settings from './settings.ts'
import * as signedOut from './signed-out.ts'
import * as threads from './threads.ts'
import * as tools from './tools.ts'
import * as workflows from './workflows.ts'

export interface PageScreens {
  /** Each goes to a state of the page, wherever the browser is. */
  SCREENS: Record<string, (page: Page) => Promise<unknown>>
  /** What the server has before it starts. */
  fill?: (host: HostServices) => Promise<unknown>
}

/** Each over a server of its own, so that what one needs is not in another's picture. */
export const PAGES: Record<string, PageScreens> = {
  connectors,
  custom,
  tools,
  threads,
  approvals,
  workflows,
  activity,
  settings,
  operator,
  'signed-out': signedOut,
}
