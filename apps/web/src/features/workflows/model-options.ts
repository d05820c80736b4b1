/** Which models a node is offered: the operator's, what others ask, and whose key there is to begin a name with. */
import type { Models } from '../threads/queries.ts'

export interface ModelOption {
  model: string
  about: string
}

const WHOSE = { user: 'your key', app: 'the app’s key' } as const

export function modelOptions({ model: usual, providers }: Models, others: readonly string[]): ModelOption[] {
  const found = new Map<string, string>()
  const add = (model: string, about: string) => {
    if (model !== '' && !found.has(model)) found.set(model, about)
  }
  if (usual !== undefined) add(usual, 'the operator’s')
  for (const model of others) add(model, 'another node asks it')
  for (const { provider, key } of providers) if (key !== 'none') add(`${provider}:`, WHOSE[key])
  return [...found].map(([model, about]) => ({ model, about }))
}
