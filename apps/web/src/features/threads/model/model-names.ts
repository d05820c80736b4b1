/** Model name suggestions from allowed names and globs; a glob suggests its prefix. */
import type { Models } from '../queries.ts'

/** Full names (`provider:model`) of all providers, then prefixes of globs. */
export function wholeNames({ model: defaultModel, providers }: Models): string[] {
  const patterns = providers.flatMap(({ models }) => models)
  const named = patterns.filter((pattern) => !isGlob(pattern))
  const prefixes = patterns.filter(isGlob).map((pattern) => pattern.slice(0, pattern.search(GLOB)))
  return [...new Set([...(defaultModel === undefined ? [] : [defaultModel]), ...named, ...prefixes])]
}

/** Names of one provider without its prefix. */
export const namesOf = (models: Models, provider: string): string[] =>
  wholeNames(models).flatMap((name) => {
    const [, own = ''] = name.startsWith(`${provider}:`) ? [name, name.slice(provider.length + 1)] : []
    return own === '' ? [] : [own]
  })

const GLOB = /[*?[{]/
const isGlob = (text: string): boolean => GLOB.test(text)
