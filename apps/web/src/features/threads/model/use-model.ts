/** The model of this browser or of the operator, and what is missing to use it. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ChatOptions, readOptions } from '../chat/chat-options.ts'
import { type Models, modelsQuery } from '../queries.ts'

export type ModelState =
  | { status: 'loading' }
  | { status: 'ready'; model: string }
  | { status: 'missing'; what: 'model' }
  | { status: 'missing'; what: 'key'; model: string; provider: string }

const KEY = 'loadout-model'

export function useModel() {
  const { data, isPending } = useQuery(modelsQuery())
  const [options, setOptions] = useState(readStored)
  return {
    state: data ? modelState(data, options.model) : ({ status: 'loading' } as const),
    models: data,
    /** Whether the models are loading. */
    isPending,
    options,
    choose: (next: ChatOptions) => {
      store(next)
      setOptions(next)
    },
  }
}

export function modelState({ model: defaultModel, providers }: Models, chosen: string | undefined): ModelState {
  const model = chosen ?? defaultModel
  if (model === undefined) return { status: 'missing', what: 'model' }
  const provider = providerOf(model)
  // OpenAI-compatible servers may need no key.
  const needsKey = provider !== 'openai-compatible'
  const key = providers.find((entry) => entry.provider === provider)?.key ?? 'none'
  if (needsKey && key === 'none') return { status: 'missing', what: 'key', model, provider }
  return { status: 'ready', model }
}

export const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf(':')))

function readStored(): ChatOptions {
  try {
    return readOptions(window.localStorage.getItem(KEY))
  } catch {
    return {}
  }
}

function store(options: ChatOptions): void {
  try {
    window.localStorage.setItem(KEY, JSON.stringify(options))
  } catch {
    // Storage may be blocked; the choice then applies to this page only.
  }
}
