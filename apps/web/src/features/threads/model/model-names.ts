/** Names of models that can be offered. What may be asked is told as names and globs; of a glob, what stands before it. */
import type { Models } from '../queries.ts'

/** Of all providers, whole: `provider:model`. Beginnings of names come after the names. */
export function wholeNames({ model: usual, providers }: Models): string[] {
  const told = providers.flatMap(({ models }) => models)
  const named = told.filter((one) => !isGlob(one))
  const begun = told.filter(isGlob).map((one) => one.slice(0, one.search(GLOB)))
  return [...new Set([...(usual === undefined ? [] : [usual]), ...named, ...begun])]
}

/** Of one provider, as it names them. */
export const namesOf = (models: Models, provider: string): string[] =>
  wholeNames(models).flatMap((name) => {
    const [, own = ''] = name.startsWith(`${provider}:`) ? [name, name.slice(provider.length + 1)] : []
    return own === '' ? [] : [own]
  })

const GLOB = /[*?[{]/
const isGlob = (text: string): boolean => GLOB.test(text)
