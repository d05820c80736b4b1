/** One Chromium for a whole run: started in the global set-up, each test opens its own contexts in it. */
import { type Browser, chromium } from 'playwright'
import { CHROMIUM, CHROMIUM_FLAGS } from '../scripts/chromium.ts'

/** A page of a test lives for seconds: optimised code costs more CPU time than it saves. */
const NO_OPTIMIZER = '--js-flags=--no-opt,--no-maglev'
const LAUNCH = { executablePath: CHROMIUM, args: [...CHROMIUM_FLAGS, NO_OPTIMIZER] }

/** Connects to the run's Chromium, or launches one where no run started it. Closing it closes its own contexts only. */
export function connectChromium(): Promise<Browser> {
  const endpoint = process.env.LOADOUT_TEST_CHROMIUM
  return endpoint === undefined ? chromium.launch(LAUNCH) : chromium.connect(endpoint)
}

export default async function startChromium(): Promise<() => Promise<void>> {
  if (process.env.LOADOUT_TEST_CHROMIUM !== undefined) return async () => {}
  const server = await chromium.launchServer(LAUNCH)
  process.env.LOADOUT_TEST_CHROMIUM = server.wsEndpoint()
  return () => server.close()
}
