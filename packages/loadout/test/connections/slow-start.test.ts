/** Servers that need longer to start than the first question of the new era waits (finding R1). */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { quirkyHost } from '../fixtures/quirky-host.ts'
import type { ServerQuirks } from '../fixtures/server-quirks.ts'

const FULL = process.env.LOADOUT_PROVE === 'full'
/** In full: the sleep of the finding against the probe as it is by default. */
const [PROBE_MS, START_MS] = FULL ? [3000, 8000] : [150, 900]
const TIMEOUT = { timeout: 60_000 }

async function eraOf(habits: ServerQuirks, record: Record<string, unknown> = {}) {
  await using world = quirkyHost(FULL ? {} : { probeMs: PROBE_MS })
  const log = await world.add('slow', habits, record)
  const tools = await world.introspect('slow')
  const [line] = world.host.connections.status()
  return { tools, era: line?.info.era, methods: log.methods(), starts: log.starts() }
}

it('a server of the new era that starts after the probe timeout connects', TIMEOUT, async () => {
  const seen = await eraOf({ era: 'modern', startMs: START_MS })
  expect(seen).toEqual({
    tools: ['echo', 'book'],
    era: 'modern',
    methods: ['server/discover', 'initialize', 'tools/list'],
    starts: 1,
  })
})

it('a server of the older era that starts after the probe timeout connects', TIMEOUT, async () => {
  const seen = await eraOf({ era: 'legacy', startMs: START_MS })
  expect(seen).toMatchObject({ tools: ['echo', 'book'], era: 'legacy', starts: 1 })
  expect(seen.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
})

it('a server of both eras that starts after the probe timeout connects', TIMEOUT, async () => {
  expect(await eraOf({ era: 'both', startMs: START_MS })).toMatchObject({ era: 'modern', starts: 1 })
})

it('a server that ignores the probe is asked once more in the older era and never again', TIMEOUT, async () => {
  const { era, starts, methods } = await eraOf({ era: 'legacy', ignoresDiscover: 9 })
  expect({ era, starts }).toEqual({ era: 'legacy', starts: 1 })
  expect(methods).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
})

it('an initialize refusal by version identifies a server of the new era', TIMEOUT, async () => {
  const { era, methods } = await eraOf({ era: 'modern', ignoresDiscover: 1 })
  expect(era).toBe('modern')
  expect(methods).toEqual(['server/discover', 'initialize', 'server/discover', 'tools/list'])
})

/** One of the official SDK, behind a shell that sleeps first. */
const SCENARIO = fileURLToPath(new URL('../../../../test/scenario-stdio.ts', import.meta.url))

it.for(['modern', 'legacy'])('connects `sleep; exec` of an official %s server by default', TIMEOUT, async (era) => {
  await using world = quirkyHost(FULL ? {} : { probeMs: PROBE_MS })
  const line = `sleep ${START_MS / 1000}; exec "${process.execPath}" "${SCENARIO}" ${era} /dev/null`
  await world.host.toolkits.register({ name: 'slow', command: 'bash', args: ['-c', line] }, world.owner)
  expect((await world.introspect('slow')).length).toBeGreaterThan(0)
  expect(world.host.connections.status().map(({ info }) => info.era)).toEqual([era])
})
