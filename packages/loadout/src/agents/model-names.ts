/**
 * Model names (`provider:model`), and the models that the app's keys are for: the default model and the operator's
 * list. The list applies to users without their own key, also when the provider needs no key, because the operator owns
 * the address.
 */
import { z } from 'zod'
import { HostError } from '../errors.ts'
import { compileGlob, globProblem } from '../schema/glob.ts'
import { parse } from '../schema/json.ts'
import { MODEL_PROVIDERS, type ModelProvider } from './providers.ts'

const isProvider = (text: string): text is ModelProvider => (MODEL_PROVIDERS as readonly string[]).includes(text)
const providerIn = (name: string) => name.slice(0, name.indexOf(':'))

export const modelName = z
  .string()
  .max(300)
  .regex(/^[a-z-]+:\S+$/, 'must be provider:model, for example anthropic:claude-sonnet-4-5')
  .refine((name) => isProvider(providerIn(name)), `must begin with ${MODEL_PROVIDERS.join(', ')}`)

/** A model, or a glob over the models of one provider: `anthropic:claude-*`. */
export const modelPattern = modelName.superRefine((pattern, check) => {
  const problem = globProblem(pattern)
  if (problem) check.addIssue({ code: 'custom', message: problem })
})

export function readName(name: string): [provider: ModelProvider, id: string] {
  const parsed = parse(modelName, name, ['model'])
  return [providerIn(parsed) as ModelProvider, parsed.slice(parsed.indexOf(':') + 1)]
}

export interface ModelList {
  has(name: string): boolean
  /** Names and globs of one provider. */
  listFor(provider: ModelProvider): string[]
  /** Throws `model-unavailable` with the available models. */
  assertHas(name: string): void
}

const MAX_LISTED = 10

export function createModelList(model: string | undefined, more: readonly string[] = []): ModelList {
  const patterns = parse(z.array(modelPattern).max(200), more, ['appModels'])
  const globs = patterns.map(compileGlob)
  const names = [...new Set([...(model === undefined ? [] : [model]), ...patterns])]
  const has = (name: string) => name === model || globs.some((glob) => glob.matches(name))
  return {
    has,
    listFor: (provider) => names.filter((name) => providerIn(name) === provider),
    assertHas(name) {
      if (has(name)) return
      const [provider] = readName(name)
      const listed = names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ', …' : '')
      throw new HostError('model-unavailable', {
        detail: `The app's key is not for '${name}'. ${names.length === 0 ? 'It is for no model yet.' : `It is for: ${listed}.`}`,
        action: `${names.length === 0 ? 'Save' : 'Ask one of these, save'} a key of your own (PUT /api/models/${provider}/key), or ask the operator to add it to LOADOUT_MODELS.`,
      })
    },
  }
}
