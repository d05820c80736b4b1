/** Properties of the overlay, with 1,000 random cases each (10,000 in `npm run prove:properties`), and examples. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TIERS, type Tier } from '../schema/scope.ts'
import { EXCLUSIVE } from '../schema/toolkit/activation.ts'
import { type ActivationRule, exclusively, type Layer } from './layers.ts'
import { narrow } from './narrow.ts'
import { type Loadout, type OfferedToolkit, type OverlayInput, overlay } from './overlay.ts'

const RUNS = { numRuns: process.env.LOADOUT_PROVE === 'full' ? 10_000 : 1_000 }
const TOOLKITS = ['github', 'git', 'linkedin', 'files', 'a_b']
const TOOLS = ['read', 'read_all', 'delete_repo', 'delete', 'x.y']

const tier = fc.constantFrom<Tier>('app', 'user', 'thread')
const glob = fc.constantFrom('*', 'git*', 'g?t', '{git,files}', '[a-l]*')
const toolGlob = fc.constantFrom('*', 'delete*', 'read_*', '*_all', '{read,delete}')
const ref = fc.oneof(
  fc.constantFrom(...TOOLKITS),
  glob,
  fc
    .tuple(fc.oneof(fc.constantFrom(...TOOLKITS), glob), fc.oneof(fc.constantFrom(...TOOLS), toolGlob))
    .map((parts) => parts.join('.')),
)
const rule: fc.Arbitrary<ActivationRule> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ ref, on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ ref: EXCLUSIVE, on: false }) },
)
const rules = fc.uniqueArray(rule, { selector: ({ ref: one }) => one, maxLength: 6 })
const layers: fc.Arbitrary<Layer[]> = fc.uniqueArray(fc.record({ tier, rules }), {
  selector: (layer) => layer.tier,
  maxLength: 3,
})
const toolkit = fc
  .record({
    id: fc.constantFrom(...TOOLKITS),
    tier: fc.constantFrom<Tier>('app', 'user', 'call'),
    offAt: fc.option(fc.constantFrom<Tier>('app', 'user'), { nil: undefined, freq: 5 }),
    tools: fc.uniqueArray(fc.record({ name: fc.constantFrom(...TOOLS), blocked: fc.boolean(), tokens: fc.nat(50) }), {
      selector: (tool) => tool.name,
    }),
  })
  .map(({ id, tier: of, offAt, tools }): OfferedToolkit => offering(id, { tier: of, offAt, tools }))
const toolkits = fc.uniqueArray(toolkit, { selector: (one) => `${one.tier} ${one.id}`, maxLength: 8 })
const limits = fc.record(
  { toolkits: limitOf('maxServersPerThread', 4), tools: limitOf('maxTools', 8), tokens: limitOf('maxTokens', 150) },
  { requiredKeys: [] },
)
const input: fc.Arbitrary<OverlayInput> = fc.record({ toolkits, layers, limits })

function limitOf(name: string, most: number) {
  return fc.record({ name: fc.constant(name), value: fc.nat(most), tier: fc.constant<Tier>('user') })
}

type Tools = ReadonlyArray<string | { name: string; blocked?: boolean; tokens?: number }>
function offering(
  id: string,
  { tier: of = 'user', tools = TOOLS, offAt }: { tier?: Tier; tools?: Tools; offAt?: Tier | undefined } = {},
): OfferedToolkit {
  const candidates = tools.map((tool) => {
    const { name, blocked = false, tokens = 1 } = typeof tool === 'string' ? { name: tool } : tool
    return {
      ref: `${id}.${name}`,
      modelName: `mcp_${id}_${name}`.replace(/\W/g, '_'),
      tier: of,
      toolkit: id,
      tool: name,
      manifest: { name, inputSchema: { type: 'object' } },
      deferred: true,
      allowedCallers: ['direct' as const],
      tokens,
      ...(blocked ? { blockedBy: { kind: 'pin' as const, speaks: 'against' as const, detail: 'changed' } } : {}),
    }
  })
  return { id, tier: of, offAt, candidates }
}

const key = ({ tier: of, ref: one }: { tier: Tier; ref: string }) => `${of} ${one}`
const included = (loadout: Loadout) => new Set(loadout.tools.map(key))
const refs = (loadout: Loadout) => loadout.tools.map((tool) => tool.ref)
const isSubset = (small: Set<string>, large: Set<string>) => [...small].every((one) => large.has(one))
const check = (property: fc.IRawProperty<never>) => fc.assert(property as fc.IProperty<never>, RUNS)

/** The same, as one would say it aloud: slow, without any of the overlay's own code. */
function spelledOut({ toolkits: all, layers: tierLayers, mayWiden }: OverlayInput): Set<string> {
  const result = new Set<string>()
  for (const toolkit of all) {
    if (toolkit.offAt) continue
    if (all.some((other) => other.id === toolkit.id && TIERS.indexOf(other.tier) > TIERS.indexOf(toolkit.tier)))
      continue
    for (const candidate of toolkit.candidates) {
      if (candidate.blockedBy) continue
      let offAt: Tier | undefined
      for (const at of TIERS) {
        const words = tierLayers
          .filter((layer) => layer.tier === at)
          .flatMap((layer) => layer.rules)
          .filter((one) => fitsAloud(one.ref, toolkit.id, candidate.tool))
          .sort((a, b) => rankAloud(b.ref) - rankAloud(a.ref) || Number(a.on) - Number(b.on))
        const [word] = words
        if (!word || (word.ref === EXCLUSIVE && toolkit.tier === 'call')) continue
        if (!word.on) offAt ??= at
        else if (offAt && mayWiden?.(candidate.ref, { off: offAt, on: at })) offAt = undefined
      }
      if (!offAt) result.add(key(candidate))
    }
  }
  return result
}

const plain = (text: string) => !/[*?[{]/.test(text)
function fitsAloud(one: string, id: string, tool: string): boolean {
  if (one === EXCLUSIVE) return true
  const [kit = '', ...rest] = one.split('.')
  const asRegex = (glob: string) =>
    new RegExp(
      `^${glob
        .replace(/[.+^$()|\\]/g, '\\$&')
        .replace(/\{([^}]*)\}/g, (_, list: string) => `(${list.replaceAll(',', '|')})`)
        .replaceAll('*', '.*')
        .replaceAll('?', '.')}$`,
    )
  return asRegex(kit).test(id) && (rest.length === 0 || asRegex(rest.join('.')).test(tool))
}
function rankAloud(one: string): number {
  if (one === EXCLUSIVE) return 0
  const [kit = '', ...rest] = one.split('.')
  const tool = rest.join('.')
  return 1 + (rest.length === 0 ? 0 : plain(tool) ? 4 : 2) + (plain(kit) ? 1 : 0)
}

describe('the overlay', () => {
  it('includes exactly the tools that the tier rules allow, like a naive reference', () => {
    const widens = fc.option(fc.constantFrom('github', 'git', 'files'), { nil: undefined })
    check(
      fc.property(input, widens, (sample, id) => {
        const mayWiden = id === undefined ? undefined : (one: string) => one.startsWith(`${id}.`)
        const wide = { ...sample, limits: {}, ...(mayWiden ? { mayWiden } : {}) }
        expect(included(overlay(wide))).toEqual(spelledOut(wide))
      }) as never,
    )
  })

  it('lists every tool once, in the given order, with its origin and reasons', () => {
    check(
      fc.property(input, (sample) => {
        const { entries, tools, toolkits: all } = overlay(sample)
        expect(entries.map(key)).toEqual(sample.toolkits.flatMap((one) => one.candidates.map(key)))
        expect(tools).toEqual(entries.filter((entry) => entry.included))
        expect(all.map(({ id, tier: of }) => [id, of])).toEqual(sample.toolkits.map((one) => [one.id, one.tier]))
        for (const { tier: of, included, reasons } of entries) {
          expect(reasons[0]).toMatchObject({ kind: 'tier', tier: of })
          const against = reasons.filter((reason) => reason.speaks === 'against')
          expect(against.length > 0).toBe(!included)
        }
      }) as never,
    )
  })

  it('does not depend on the layer order, and a repeated layer changes nothing', () => {
    check(
      fc.property(input, (sample) => {
        const once = overlay(sample)
        expect(overlay({ ...sample, layers: [...sample.layers].reverse() })).toEqual(once)
        expect(included(overlay({ ...sample, layers: [...sample.layers, ...sample.layers] }))).toEqual(included(once))
        expect(overlay(sample)).toEqual(once)
      }) as never,
    )
  })

  it('never lets a lower tier undo a tombstone', () => {
    check(
      fc.property(input, rules, tier, (sample, more, at) => {
        const above = sample.layers.filter((layer) => TIERS.indexOf(layer.tier) < TIERS.indexOf(at))
        const without = overlay({ ...sample, layers: above, limits: {} })
        const below = overlay({ ...sample, layers: [...above, { tier: at, rules: more }], limits: {} })
        expect(isSubset(included(below), included(without))).toBe(true)
      }) as never,
    )
  })

  it('is only narrowed by a call, whatever the call says', () => {
    const narrowing = fc.record(
      {
        only: fc.array(ref, { maxLength: 4 }),
        except: fc.array(ref, { maxLength: 4 }),
        maxTools: fc.nat(9),
        maxTokens: fc.nat(200),
      },
      { requiredKeys: [] },
    )
    check(
      fc.property(input, narrowing, narrowing, (sample, first, second) => {
        const before = overlay(sample)
        const once = narrow(before, first)
        expect(isSubset(included(once), included(before))).toBe(true)
        expect(isSubset(included(narrow(once, second)), included(once))).toBe(true)
        expect(included(narrow(once, first))).toEqual(included(once))
        expect(once.entries.map(key)).toEqual(before.entries.map(key))
        expect(once.tools.length).toBeLessThanOrEqual(first.maxTools ?? Number.POSITIVE_INFINITY)
        expect(once.tokens).toBeLessThanOrEqual(first.maxTokens ?? Number.POSITIVE_INFINITY)
      }) as never,
    )
  })

  it('never includes off, hidden or held tools, applies limits and names dropped toolkits', () => {
    check(
      fc.property(input, (sample) => {
        const loadout = overlay(sample)
        const lowest = (id: string) =>
          sample.toolkits
            .filter((one) => one.id === id)
            .map((one) => TIERS.indexOf(one.tier))
            .sort((a, b) => b - a)[0]
        for (const entry of loadout.tools) {
          const toolkit = sample.toolkits.find((one) => one.id === entry.toolkit && one.tier === entry.tier)
          expect(toolkit?.offAt).toBeUndefined()
          expect(TIERS.indexOf(entry.tier)).toBe(lowest(entry.toolkit))
          expect(toolkit?.candidates.find((one) => one.ref === entry.ref)?.blockedBy).toBeUndefined()
        }
        const stored = new Set(loadout.tools.filter((tool) => tool.tier !== 'call').map((tool) => tool.toolkit))
        expect(stored.size).toBeLessThanOrEqual(sample.limits?.toolkits?.value ?? Number.POSITIVE_INFINITY)
        for (const dropped of loadout.droppedToolkits) expect(stored.has(dropped)).toBe(false)
        expect(loadout.tools.length).toBeLessThanOrEqual(sample.limits?.tools?.value ?? Number.POSITIVE_INFINITY)
        expect(loadout.tokens).toBeLessThanOrEqual(sample.limits?.tokens?.value ?? Number.POSITIVE_INFINITY)
        expect(new Set(loadout.tools.map((tool) => tool.modelName)).size).toBe(loadout.tools.length)
      }) as never,
    )
  })
})

describe('the overlay in common cases', () => {
  const kits = [offering('github'), offering('linkedin', { tier: 'app' }), offering('files', { tier: 'app' })]
  const thread = (rules: ActivationRule[]): Layer => ({ tier: 'thread', rules })

  it('gives a thread without its own choice all tools of its user', () => {
    expect(overlay({ toolkits: kits, layers: [] }).tools).toHaveLength(15)
  })

  it('treats a list as exclusive and adds tools that are activated besides', () => {
    const only = exclusively(['linkedin'])
    expect(new Set(overlay({ toolkits: kits, layers: [thread(only)] }).tools.map((tool) => tool.toolkit))).toEqual(
      new Set(['linkedin']),
    )
    const joined = [...only, { ref: 'github.read', on: true }]
    expect(refs(overlay({ toolkits: kits, layers: [thread(joined)] }))).toContain('github.read')
    expect(overlay({ toolkits: kits, layers: [thread(exclusively([]))] }).tools).toEqual([])
  })

  it('turns off one tool or all tools that match a glob', () => {
    const off = overlay({ toolkits: kits, layers: [thread([{ ref: 'github.delete_repo', on: false }])] })
    expect(refs(off)).not.toContain('github.delete_repo')
    expect(refs(off)).toContain('linkedin.delete_repo')
    const globbed = overlay({ toolkits: kits, layers: [thread([{ ref: '*.delete*', on: false }])] })
    expect(refs(globbed).filter((one) => one.includes('delete'))).toEqual([])
  })

  it('keeps tools off that the operator turned off, unless policy lets a thread undo it', () => {
    const app: Layer = { tier: 'app', rules: [{ ref: '*.delete*', on: false }] }
    const on = thread([{ ref: 'github.delete_repo', on: true }])
    expect(refs(overlay({ toolkits: kits, layers: [app, on] }))).not.toContain('github.delete_repo')
    const widened = overlay({
      toolkits: kits,
      layers: [app, on],
      mayWiden: (one, { off, on: by }) => one.startsWith('github.') && off === 'app' && by === 'thread',
    })
    expect(refs(widened).filter((one) => one.includes('delete'))).toEqual(['github.delete_repo'])
  })

  it('hides an app toolkit behind a user toolkit of the same ID, and both behind a call toolkit', () => {
    const three = [offering('kb', { tier: 'user' }), offering('kb', { tier: 'app' }), offering('kb', { tier: 'call' })]
    const loadout = overlay({ toolkits: three, layers: [] })
    expect(new Set(loadout.tools.map((tool) => tool.tier))).toEqual(new Set(['call']))
    const hidden = loadout.entries.find((entry) => entry.tier === 'app')
    expect(hidden?.reasons.at(-1)).toEqual({
      kind: 'shadowed',
      speaks: 'against',
      tier: 'call',
      detail: 'A toolkit of the same id at the call tier hides it.',
    })
  })

  it('adds call toolkits to an exclusive thread but applies its tombstones', () => {
    const inlineKit = offering('tavily', { tier: 'call', tools: ['search', 'delete'] })
    const rulesOf = [...exclusively(['github']), { ref: '*.delete', on: false }]
    expect(refs(overlay({ toolkits: [...kits, inlineKit], layers: [thread(rulesOf)] }))).toContain('tavily.search')
    expect(refs(overlay({ toolkits: [...kits, inlineKit], layers: [thread(rulesOf)] }))).not.toContain('tavily.delete')
  })

  it('keeps toolkits that are requested by name within the limit and names the others', () => {
    const many = Array.from({ length: 20 }, (_, index) => offering(`kit${index}`, { tools: ['one'] }))
    const limit = { toolkits: { name: 'maxServersPerThread', value: 16, tier: 'user' as const } }
    const loadout = overlay({ toolkits: many, layers: [thread([{ ref: 'kit19', on: true }])], limits: limit })
    expect(refs(loadout)).toContain('kit19.one')
    expect(loadout.droppedToolkits).toEqual(['kit15', 'kit16', 'kit17', 'kit18'])
    expect(loadout.entries.find((entry) => entry.toolkit === 'kit15')?.reasons.at(-1)?.detail).toBe(
      'maxServersPerThread is 16, and other toolkits come first.',
    )
  })

  it('gives two tools with the same model name distinct names and keeps the app name', () => {
    const user = offering('a', { tools: ['b'] })
    const app = offering('a_b', { tier: 'app', tools: ['c'] })
    const [mine] = user.candidates
    const [theirs] = app.candidates
    const alike = { modelName: 'mcp_alike' }
    const loadout = overlay({
      toolkits: [
        { ...user, candidates: [{ ...mine, ...alike } as never] },
        { ...app, candidates: [{ ...theirs, ...alike } as never] },
      ],
      layers: [],
    })
    expect(loadout.tools.map((tool) => [tool.tier, tool.modelName])).toEqual([
      ['user', expect.stringMatching(/^mcp_alike_[0-9a-f]{16}$/)],
      ['app', 'mcp_alike'],
    ])
  })
})
