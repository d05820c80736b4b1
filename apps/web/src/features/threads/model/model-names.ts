/** Names of models that can be offered. What may be asked is told as names and globs; of a glob, what stands before it. */
import type { Models } from '../queries.ts'

/** Of all providers, whole: `provider:model`. Beginnings of names come after the names. */
export function wholeNames({ model: defaultModel, providers }: Models): string[] {
  const patterns = providers.flatMap(({ models }) => models)
  const named = patterns.filter((pattern) => !isGlob(pattern))
  const prefixes = patterns.filter(isGlob).map((pattern) => pattern.slice(0, pattern.search(GLOB)))
  return [...new Set([...(defaultModel === undefined ? [] : [defaultModel]), ...named, ...prefixes])]
}

/** Of one provider, as it names them. */
export const namesOf = (models: Models, provider: string): string[] =>
  wholeNames(models).flatMap((name) => {
    const [, own = ''] = name.startsWith(`${provider}:`) ? [name, name.slice(provider.length + 1)] : []
    return own === '' ? [] : [own]
  })

const GLOB = /[*?[{]/
const isGlob = (text: string): boolean => GLOB.test(text)
