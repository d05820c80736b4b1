/**
 * The code of a custom tool as a program: with `input`, `secrets` and a `fetch` that gives what looks like a Response. Lines
 * of the code stay lines of the program. None of it guards anything; what guards is on our side of the bridge.
 */
import type { Json } from '../schema/json.ts'

/** What the program reads as its input. */
export interface CustomInput {
  input: Json
  secrets: Record<string, string>
}

const BEFORE = 'return (async (input, secrets, fetch) => {'

/** Headers of a Request or a Response: names in any case, as pairs or an object. */
const FETCH = `((ask) => async (url, init) => {
  const { method, headers, body, redirect } = init ?? {}
  const pairs = headers == null ? [] : typeof headers[Symbol.iterator] === 'function' ? [...headers] : Object.entries(headers)
  const answer = await ask(String(url), { method, headers: pairs.map(([name, value]) => [String(name), String(value)]), body, redirect })
  const kept = new Map(answer.headers)
  const low = (name) => String(name).toLowerCase()
  return {
    status: answer.status, statusText: answer.statusText, ok: answer.status >= 200 && answer.status < 300,
    url: answer.url, redirected: answer.redirected,
    headers: {
      get: (name) => kept.get(low(name)) ?? null, has: (name) => kept.has(low(name)),
      keys: () => kept.keys(), values: () => kept.values(), entries: () => kept.entries(),
      forEach: (work) => kept.forEach((value, name) => work(value, name)), [Symbol.iterator]: () => kept.entries(),
    },
    text: async () => answer.body, json: async () => JSON.parse(answer.body),
  }
})`

/** A comment may be the last word of the code: what follows begins a new line. */
export const customSource = (code: string): string =>
  `${BEFORE}${code}\n})(input.input, Object.freeze(input.secrets), ${FETCH}(fetch))`
