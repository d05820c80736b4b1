/** Masks the toolkit's own secrets in results, by the rule that errors and logs follow, before a result is stored or handed on. */
import type { MaskValue } from '../../connections/mask-values.ts'
import type { Stage } from '../call.ts'

export function withMaskedResults(mask: MaskValue): Stage {
  return (next) => async (call) => {
    const outcome = await next(call)
    if ('error' in outcome) return outcome
    const { content, structuredContent } = outcome
    const [shown, structured] = await mask(call.stored, call.userId, [content, structuredContent] as const)
    return { ...outcome, content: shown, ...(structuredContent === undefined ? {} : { structuredContent: structured }) }
  }
}
