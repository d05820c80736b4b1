/**
 * Redacts secrets of the toolkit in results, by the same rule as errors and logs, before a result is stored or
 * returned. Other keys stay: they may be what the caller asked for.
 */
import type { ToolkitSecrets } from '../../connections/known-secrets.ts'
import type { JsonObject } from '../../schema/json.ts'
import { formsOf, maskDeep } from '../../toolkits/secrets/redact.ts'
import type { CallOutcome, Stage } from '../call.ts'

export function withMaskedResults(secrets: Pick<ToolkitSecrets, 'list'>): Stage {
  const cache = new WeakMap<readonly string[], readonly string[]>()
  const formsIn = (values: readonly string[]) => {
    const forms = cache.get(values) ?? formsOf(values)
    cache.set(values, forms)
    return forms
  }
  return (next) => async (call) => {
    const outcome = await next(call)
    return 'error' in outcome ? outcome : masked(outcome, formsIn(await secrets.list(call.stored, call.userId)))
  }
}

type Done = Extract<CallOutcome, { content: unknown }>

function masked(outcome: Done, forms: readonly string[]): Done {
  if (forms.length === 0) return outcome
  const { content, structuredContent } = outcome
  return {
    ...outcome,
    content: maskDeep(content, forms) as JsonObject[],
    ...(structuredContent === undefined ? {} : { structuredContent: maskDeep(structuredContent, forms) }),
  }
}
