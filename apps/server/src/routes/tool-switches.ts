/**
 * Turns single tools on or off for one user. Off is an activation of the user; on removes it, and adds an activation
 * only if a wider one of the user keeps the tool off. Tools that the operator turned off stay off.
 */
import { HostError } from '@loadout/core'
import type { HostServices, StoredToolkit } from '@loadout/core/services'

export type Switches = Readonly<Record<string, boolean>>

/** Escapes a tool name, so that it matches only itself in a glob. */
const patternOf = (name: string): string => name.replace(/[*?[]/g, '[$&]').replaceAll('{', '?')

export async function switchTools(
  host: Pick<HostServices, 'activations' | 'loadouts' | 'catalog'>,
  userId: string,
  { stored, switches }: { stored: StoredToolkit; switches: Switches },
): Promise<void> {
  const refOf = (name: string) => `${stored.toolkit.id}.${patternOf(name)}`
  const names = Object.keys(switches)
  await assertToolsExist(host, userId, { stored, names })
  const off = names.filter((name) => switches[name] === false)
  const on = names.filter((name) => switches[name] === true)
  if (on.length > 0) await host.activations.clear({ userId }, on.map(refOf))
  const stillDisabled = on.length > 0 && stored.enabled ? await stillOff(host, userId, stored) : new Set<string>()
  const rules = [
    ...off.map((name) => ({ ref: refOf(name), on: false })),
    ...on.filter((name) => stillDisabled.has(name)).map((name) => ({ ref: refOf(name), on: true })),
  ]
  if (rules.length > 0) await host.activations.set({ userId }, rules)
}

/** Tools that a wider activation of the user keeps off. */
async function stillOff({ loadouts }: Pick<HostServices, 'loadouts'>, userId: string, { uscoId }: StoredToolkit) {
  const { entries } = await loadouts.resolve({ userId }, { background: true })
  const own = entries.filter(
    (entry) =>
      entry.uscoId === uscoId &&
      entry.reasons.some(({ kind, speaks, tier }) => kind === 'activation' && speaks === 'against' && tier === 'user'),
  )
  return new Set(own.map(({ tool }) => tool))
}

async function assertToolsExist(
  { catalog }: Pick<HostServices, 'catalog'>,
  userId: string,
  { stored, names }: { stored: StoredToolkit; names: readonly string[] },
): Promise<void> {
  const tools = (await catalog.tools(userId, [stored], { asIs: true })).get(stored.uscoId) ?? []
  const toolNames = new Set(tools.map(({ manifest }) => manifest.name))
  const errors = names
    .filter((name) => !toolNames.has(name))
    .map((name) => ({ path: `switches.${name}`, message: 'names no tool of this toolkit' }))
  if (errors.length > 0)
    throw new HostError('invalid-input', {
      detail: `"${stored.toolkit.id}" has no tool ${errors.map(({ path }) => `"${path.slice(9)}"`).join(', ')}.`,
      errors,
    })
}
