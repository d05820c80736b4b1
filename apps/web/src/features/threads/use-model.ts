/** Which model is asked: the one that was chosen in this browser, or the operator's. And what is missing where none can be. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Models, modelsQuery } from './queries.ts'

export type ModelState =
  | { status: 'loading' }
  | { status: 'ready'; model: string }
  | { status: 'missing'; what: 'model' }
  | { status: 'missing'; what: 'key'; model: string; provider: string }

const KEY = 'loadout-model'

export function useModel() {
  const { data } = useQuery(modelsQuery())
  const [chosen, setChosen] = useState(readChosen)
  return {
    state: data ? modelState(data, chosen) : ({ status: 'loading' } as const),
    models: data,
    /** Undefined is the operator's. */
    chosen,
    choose: (model: string | undefined) => {
      keepChosen(model)
      setChosen(model)
    },
  }
}

export function modelState({ model: usual, providers }: Models, chosen: string | undefined): ModelState {
  const model = chosen ?? usual
  if (model === undefined) return { status: 'missing', what: 'model' }
  const provider = providerOf(model)
  // Those that speak OpenAI's language at another address may need no key.
  const needsKey = provider !== 'openai-compatible'
  const key = providers.find((one) => one.provider === provider)?.key ?? 'none'
  if (needsKey && key === 'none') return { status: 'missing', what: 'key', model, provider }
  return { status: 'ready', model }
}

export const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf(':')))

function readChosen(): string | undefined {
  try {
    return window.localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}

function keepChosen(model: string | undefined): void {
  try {
    if (model === undefined) window.localStorage.removeItem(KEY)
    else window.localStorage.setItem(KEY, model)
  } catch {
    // Storage may be blocked; the choice holds for this page then.
  }
}
