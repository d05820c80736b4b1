/** What providers take, and where that is said. Asked by every form; a warning comes before a limit is met. */

export interface ProviderLimits {
  title: string
  /** Entries of `tools` in one request. */
  tools: number
  /** Characters of a name. */
  name: number
  /** Tools in one namespace, where there are namespaces. */
  namespace?: number
}

export const LIMITS = {
  /** 10,000: the documentation of the tool search tool. 64: a `tool_reference` takes no longer names, though a tool may have 128. */
  anthropic: { title: 'Anthropic', tools: 10_000, name: 64 },
  /** 128: the API answers `array_above_max_length`. 64: `FunctionTool.name`. "Fewer than 10": the guide to tool search. */
  'openai-responses': { title: 'OpenAI', tools: 128, name: 64, namespace: 9 },
  'openai-chat': { title: 'OpenAI', tools: 128, name: 64 },
  /** 512: the API answers "At most 512 function declarations can be specified". 64: what it was seen to take. */
  google: { title: 'Google', tools: 512, name: 64 },
} as const satisfies Record<string, ProviderLimits>
export type LimitedProvider = keyof typeof LIMITS

/** From here on it is told. */
const NEAR = 0.8
const MAX_NAMES = 5

/** What a request has, and what was left out of it because it had too much. */
export interface Measured {
  provider: LimitedProvider
  /** Entries of `tools`, after what was left out. */
  entries: number
  names: readonly string[]
  /** Left out, the lowest rank last. */
  dropped?: readonly string[]
  /** Not sent at once, though it was selected: found by a search. */
  postponed?: readonly string[]
  /** Names that are longer than the provider takes. */
  tooLong?: readonly string[]
}

/** What is near a limit or over it, each with what to do about it. */
export function limitWarnings({
  provider,
  entries,
  names,
  dropped = [],
  postponed = [],
  tooLong = [],
}: Measured): string[] {
  const { title, tools, name } = LIMITS[provider]
  const long = names.filter((toolName) => toolName.length >= NEAR * name)
  const percent = Math.round((100 * entries) / tools)
  return [
    ...(dropped.length > 0
      ? [
          `${title} takes ${tools} tools in a request: ${count(dropped)} left out, those of the lowest rank (${list(dropped)}). ${ADVICE}`,
        ]
      : []),
    ...(postponed.length > 0
      ? [
          `${title} takes ${tools} tools in a request: ${count(postponed)} selected but found by a search only (${list(postponed)}). ${ADVICE}`,
        ]
      : []),
    ...(dropped.length + postponed.length === 0 && entries >= NEAR * tools
      ? [`${title} takes ${tools} tools in a request, and this one has ${entries} (${percent} %). ${ADVICE}`]
      : []),
    ...(tooLong.length > 0
      ? [
          `${title} takes names of ${name} characters: ${count(tooLong)} left out (${list(tooLong)}). Override the tool's name with a shorter one.`,
        ]
      : []),
    ...(long.length > 0
      ? [
          `${title} takes names of ${name} characters, and ${count(long)} near that (${list(long)}); a longer one is cut and ends with a hash. Give the toolkit a shorter id, or the tool a shorter name.`,
        ]
      : []),
  ]
}

const ADVICE =
  'Lower "limit" in resolve(), switch off toolkits of this thread, or let more of them wait (deferLoading).'
const count = (names: readonly string[]) => (names.length === 1 ? '1 tool is' : `${names.length} tools are`)
const list = (names: readonly string[]) =>
  `${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`
