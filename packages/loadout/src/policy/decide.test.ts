/** Every combination of annotations, and 10,000 random policies per property. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DECISIONS, type PolicyRule, policyRule } from '../schema/toolkit/policy.ts'
import type { Annotations } from '../schema/toolkit/tool.ts'
import { byAnnotations, compileRules, type DecisionInput, decide, type TieredRules } from './decide.ts'
import { rule } from './rules.ts'

const RUNS = { numRuns: 10_000 }
const strictness = (input: DecisionInput) => DECISIONS.indexOf(decide(input).decision)
const base: DecisionInput = {
  toolkit: 'github',
  tool: 'create_issue',
  caller: { type: 'direct' },
  trusted: true,
  rules: {},
}

describe('the policy decision without rules', () => {
  const values = [undefined, true, false]
  const all: Annotations[] = values.flatMap((readOnlyHint) =>
    values.flatMap((destructiveHint) =>
      values.flatMap((idempotentHint) =>
        values.map(
          (openWorldHint) => ({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }) as Annotations,
        ),
      ),
    ),
  )
  it.each(all.map((annotations) => [JSON.stringify(annotations), annotations] as const))('%s', (_, annotations) => {
    const expected = annotations.destructiveHint ? 'ask' : annotations.readOnlyHint ? 'allow' : 'ask'
    expect(byAnnotations(annotations).decision).toBe(expected)
    expect(decide({ ...base, annotations }).decision).toBe(expected)
    expect(decide({ ...base, annotations, trusted: false }).decision).toBe('ask')
  })

  it('asks when a tool has no annotations', () => expect(byAnnotations(undefined).decision).toBe('ask'))
})

const hint = fc.option(fc.boolean(), { nil: undefined })
const annotations = fc.option(
  fc.record({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint }),
  { nil: undefined },
) as fc.Arbitrary<Annotations | undefined>
const pattern = fc.constantFrom(
  '*',
  'github',
  'git*',
  'github.*',
  '*.create_*',
  'github.create_issue',
  'other',
  '{github,x}.c*',
)
const when = fc.record(
  {
    caller: fc.constantFrom('direct', 'code', 'workflow'),
    readOnly: fc.boolean(),
    destructive: fc.boolean(),
    idempotent: fc.boolean(),
    openWorld: fc.boolean(),
  },
  { requiredKeys: [] },
)
const anyRule = fc.record({
  pattern,
  when,
  decision: fc.constantFrom(...DECISIONS),
  allowEdits: fc.boolean(),
  allowRemember: fc.boolean(),
}) as fc.Arbitrary<PolicyRule>
const rulesOf = fc.array(anyRule, { maxLength: 4 }).map(compileRules)
const tiers = fc.record({ app: rulesOf, user: rulesOf, thread: rulesOf, call: rulesOf }) as fc.Arbitrary<
  Required<TieredRules>
>
const input: fc.Arbitrary<DecisionInput> = fc.record({
  toolkit: fc.constantFrom('github', 'gitlab', 'x'),
  tool: fc.constantFrom('create_issue', 'list', 'delete'),
  caller: fc.record({ type: fc.constantFrom('direct', 'code', 'workflow') }),
  annotations,
  trusted: fc.boolean(),
  rules: tiers,
}) as fc.Arbitrary<DecisionInput>

describe('the policy decision', () => {
  it('is never loosened and gets no new freedom from a lower tier', () => {
    fc.assert(
      fc.property(input, (sample) => {
        const { app, user, thread } = sample.rules
        const steps = [{ app }, { app, user }, { app, user, thread }, sample.rules].map(
          (rules) => ({ ...sample, rules }) as DecisionInput,
        )
        for (const [index, step] of steps.entries()) {
          const above = steps[index - 1]
          if (!above) continue
          expect(strictness(step)).toBeGreaterThanOrEqual(strictness(above))
          const now = decide(step)
          const before = decide(above)
          if (now.decision === before.decision) {
            expect(!now.allowEdits || before.allowEdits).toBe(true)
            expect(!now.allowRemember || before.allowRemember).toBe(true)
          }
        }
      }),
      RUNS,
    )
  })

  it('is never relaxed by annotations of an untrusted toolkit', () => {
    fc.assert(
      fc.property(input, (sample) => {
        const { annotations: _, ...without } = sample
        const claims = strictness({ ...sample, trusted: false })
        expect(claims).toBeGreaterThanOrEqual(strictness({ ...without, trusted: false }))
      }),
      RUNS,
    )
  })

  it('asks for unknown tools of any name', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.boolean(), (toolkit, tool, trusted) => {
        expect(decide({ ...base, toolkit, tool, trusted }).decision).toBe('ask')
      }),
      RUNS,
    )
  })

  it('keeps a denial despite a grant and asks every time where grants are not allowed', () => {
    fc.assert(
      fc.property(input, (sample) => {
        const plain = decide(sample)
        const allowed = decide({ ...sample, remembered: 'allow' })
        expect(decide({ ...sample, remembered: 'deny' }).decision).toBe('deny')
        if (plain.decision === 'deny') expect(allowed.decision).toBe('deny')
        if (plain.decision === 'ask') expect(allowed.decision).toBe(plain.allowRemember ? 'allow' : 'ask')
      }),
      RUNS,
    )
  })

  it('denies when a rule throws', () => {
    const broken = {
      ...base,
      rules: {
        app: [
          {
            matches: () => {
              throw new Error('x')
            },
          },
        ],
      },
    } as never
    expect(decide(broken).decision).toBe('deny')
  })
})

describe('policy rules', () => {
  const decided = (rules: PolicyRule[], more: Partial<DecisionInput> = {}) =>
    decide({ ...base, ...more, rules: { app: compileRules(rules) } })

  it('apply in order, and the first match decides', () => {
    const rules = [rule('*', { readOnly: true }, 'allow'), rule('github.create_*', 'deny'), rule('github', 'allow')]
    expect(decided(rules)).toMatchObject({ decision: 'deny', rule: 'github.create_*', tier: 'app' })
    expect(decided(rules, { tool: 'x' })).toMatchObject({ decision: 'allow', rule: 'github' })
    expect(decided(rules, { annotations: { readOnlyHint: true } })).toMatchObject({ decision: 'allow', rule: '*' })
    expect(decided(rules, { toolkit: 'other' })).toMatchObject({ decision: 'ask' })
  })

  it('can match one caller and give their own reason', () => {
    const rules = [rule('*', { caller: 'code', reason: 'Programs may not.' }, 'deny')]
    expect(decided(rules, { caller: { type: 'code' } })).toMatchObject({
      decision: 'deny',
      reason: 'Programs may not.',
    })
    expect(decided(rules).decision).toBe('ask')
    expect(() => policyRule.parse({ pattern: 'A B', decision: 'allow' })).toThrow()
  })
})
