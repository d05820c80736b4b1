/**
 * Previews decisions about tools with the same function that decides about calls. Results are cached per rules and
 * tools, so that users without own rules share them.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import { callersOf } from '../loadout/candidates.ts'
import type { Denials, PolicyPreview, ToolDenials } from '../loadout/policy-filter.ts'
import { claimsOf } from '../loadout/transform/tighten.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { TIERS, type Tier } from '../schema/scope.ts'
import type { Reason } from '../schema/toolkit/loadout-entry.ts'
import { type AllowedCaller, allowedCaller } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { isTrusted } from '../toolkits/stored-toolkit.ts'
import { type Decided, decide, type TieredRules } from './decide.ts'
import type { Grants } from './grants.ts'
import type { Policy } from './policy.ts'
import type { PolicyRules } from './rules.ts'

export interface PolicyPreviewDeps {
  policy: Pick<Policy, 'decide'>
  rules: Pick<PolicyRules, 'forCall'>
  grants: Pick<Grants, 'denied' | 'rememberedRefs'>
  app: { get(): Promise<AppConfig> }
}

/** Inputs of a decision, except the tools. */
interface Basis {
  config: AppConfig
  rules: TieredRules
  /** Denials that the user saved. */
  denied: ReadonlyMap<string, Tier>
}

type Scope = Parameters<PolicyPreview['forScope']>[0]

export function createPolicyPreview(deps: PolicyPreviewDeps): PolicyPreview {
  const cache = new TupleCache<ScopeDenials>()
  return {
    async forScope(scope) {
      const [config, rules, denied] = await Promise.all([
        deps.app.get(),
        deps.rules.forCall(scope),
        deps.grants.denied(scope),
      ])
      const { app = NONE, user = NONE, thread = NONE } = rules
      const denials = cache.getOrCreate(
        [config, app, user, thread, denied],
        () => new ScopeDenials({ config, rules, denied }),
      )
      return { denials: (stored, tools) => denials.list(stored, tools), reasons: explainTools(deps, scope, denials) }
    },
  }
}

const NONE: readonly never[] = []

/** WeakMap keyed by a tuple of objects. */
class TupleCache<T extends object> {
  readonly #root = new WeakMap<object, object>()

  getOrCreate(keys: readonly object[], make: () => T): T {
    let at = this.#root
    for (const key of keys.slice(0, -1)) {
      const next = (at.get(key) as WeakMap<object, object> | undefined) ?? new WeakMap<object, object>()
      at.set(key, next)
      at = next
    }
    const last = keys.at(-1) as object
    const value = (at.get(last) as T | undefined) ?? make()
    at.set(last, value)
    return value
  }
}

type ToolPreview = Decided & { caller: AllowedCaller; explanation: Reason }
type DenialList = ReadonlyArray<Denials | undefined>

/** Denials of one basis, by toolkit. */
class ScopeDenials {
  readonly #basis: Basis
  readonly #denialsCache = new WeakMap<
    readonly CatalogTool[],
    { stored: StoredToolkit; listed: DenialList | undefined }
  >()

  readonly #previewCache = new WeakMap<
    readonly CatalogTool[],
    { stored: StoredToolkit; previews: readonly ToolPreview[] }
  >()

  constructor(basis: Basis) {
    this.#basis = basis
  }

  list(stored: StoredToolkit, tools: readonly CatalogTool[]): DenialList | undefined {
    const cached = this.#denialsCache.get(tools)
    if (cached?.stored === stored) return cached.listed
    const listed = this.#listed(stored, tools)
    this.#denialsCache.set(tools, { stored, listed })
    return listed
  }

  /** Decisions without saved permissions; cached. */
  previews(stored: StoredToolkit, tools: readonly CatalogTool[]): readonly ToolPreview[] {
    const cached = this.#previewCache.get(tools)
    if (cached?.stored === stored) return cached.previews
    const [direct, code] = (['direct', 'code'] as const).map((caller) => this.#decide(stored, tools, caller))
    const previews = tools.map(({ manifest }, at) => {
      const caller = callersOf(stored.toolkit, manifest.name).includes('direct') ? 'direct' : 'code'
      const decided = (caller === 'direct' ? direct : code)?.[at] as Decided
      return { ...decided, caller, explanation: reasonOf(decided) } as const
    })
    this.#previewCache.set(tools, { stored, previews })
    return previews
  }

  #decide(stored: StoredToolkit, tools: readonly CatalogTool[], caller: AllowedCaller): Decided[] {
    const { config, rules } = this.#basis
    const { id } = stored.toolkit
    const about = {
      toolkit: id,
      caller: { type: caller },
      trusted: isTrusted(stored, config),
      rules: rulesOf(rules, id),
    }
    return tools.map(({ manifest }) => {
      const tool = manifest.name
      const input = { ...about, tool, annotations: claimsOf(stored.toolkit, manifest) }
      const plain = decide(input)
      const at = plain.decision === 'deny' ? undefined : this.#deniedAt(id, tool)
      return at === undefined ? plain : { ...decide({ ...input, remembered: 'deny' }), tier: at }
    })
  }

  #listed(stored: StoredToolkit, tools: readonly CatalogTool[]): DenialList | undefined {
    const { id } = stored.toolkit
    if (!hasDeny(rulesOf(this.#basis.rules, id)) && !this.#deniesSome(id)) return undefined
    const decided = allowedCaller.options.map((caller) => ({ caller, decisions: this.#decide(stored, tools, caller) }))
    const listed = tools.map((_, at): Denials | undefined => {
      const denied = decided.flatMap(({ caller, decisions }) => {
        const toolDecision = decisions[at] as Decided
        return toolDecision.decision === 'deny' ? [[caller, reasonOf(toolDecision)] as const] : []
      })
      return denied.length === 0 ? undefined : Object.fromEntries(denied)
    })
    return listed.some((one) => one !== undefined) ? listed : undefined
  }

  #deniedAt(id: string, tool: string): Tier | undefined {
    const { denied } = this.#basis
    return denied.get(id) ?? denied.get(`${id}.${tool}`)
  }

  #deniesSome(id: string): boolean {
    for (const ref of this.#basis.denied.keys()) if (ref === id || ref.startsWith(`${id}.`)) return true
    return false
  }
}

/** Rules that can match a tool of this toolkit. */
function rulesOf(rules: TieredRules, id: string): TieredRules {
  return Object.fromEntries(TIERS.map((tier) => [tier, rules[tier]?.filter(({ toolkit }) => toolkit.matches(id))]))
}

const hasDeny = (rules: TieredRules) =>
  TIERS.some((tier) => rules[tier]?.some(({ decision }) => decision === 'deny') ?? false)

const WORDS = { allow: 'It may be called.', ask: 'It is asked first.', deny: 'It is denied.' } as const

function reasonOf({ decision, reason, tier }: Decided): Reason {
  const speaks = decision === 'deny' ? 'against' : 'for'
  return { kind: 'policy', speaks, ...(tier === undefined ? {} : { tier }), detail: `${WORDS[decision]} ${reason}` }
}

/** Adds saved permissions. Only tools with one are decided individually. */
function explainTools(
  { policy, grants }: PolicyPreviewDeps,
  scope: Scope,
  denials: ScopeDenials,
): ToolDenials['reasons'] {
  return async (stored, tools) => {
    const { id } = stored.toolkit
    const previews = denials.previews(stored, tools)
    const rememberedRefs = await grants.rememberedRefs(scope.userId)
    if (rememberedRefs.size === 0) return previews.map(({ explanation }) => explanation)
    return Promise.all(
      previews.map(async ({ decision, caller, explanation }, at) => {
        const found = tools[at] as CatalogTool
        const isRemembered = rememberedRefs.has(id) || rememberedRefs.has(`${id}.${found.manifest.name}`)
        if (decision !== 'ask' || !isRemembered) return explanation
        return reasonOf(await policy.decide({ ...scope, stored, found, caller: { type: caller } }))
      }),
    )
  }
}
