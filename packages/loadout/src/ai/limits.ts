/** Tool limits of providers with their sources. Every form warns before a limit is reached. */

export interface ProviderLimits {
  title: string
  /** Entries of `tools` in one request. */
  tools: number
  /** Characters of a name. */
  name: number
  /** Tools per namespace, if the API has namespaces. */
  namespace?: number
}

export const LIMITS = {
  /**
   * 10,000: documentation of the tool search tool. 64: `tool_reference` takes no longer names, although a tool may have
   * 128.
   */
  anthropic: { title: 'Anthropic', tools: 10_000, name: 64 },
  /**
   * 128: the API answers `array_above_max_length`. 64: `FunctionTool.name`. "Fewer than 10": the guide to tool search.
   */
  'openai-responses': { title: 'OpenAI', tools: 128, name: 64, namespace: 9 },
  'openai-chat': { title: 'OpenAI', tools: 128, name: 64 },
  /** 512: the API answers "At most 512 function declarations can be specified". 64: observed. */
  google: { title: 'Google', tools: 512, name: 64 },
} as const satisfies Record<string, ProviderLimits>
export type LimitedProvider = keyof typeof LIMITS

/** Share of a limit at which a warning starts. */
const NEAR = 0.8
const MAX_NAMES = 5

/** Size of a request, and the tools that did not fit. */
export interface Measured {
  provider: LimitedProvider
  /** Entries of `tools` that are sent. */
  entries: number
  names: readonly string[]
  /** Dropped tools, the lowest rank last. */
  dropped?: readonly string[]
  /** Selected tools that are only found by search. */
  postponed?: readonly string[]
  /** Names that are too long for the provider. */
  tooLong?: readonly string[]
}

/** Warnings for limits that are near or exceeded, each with a fix. */
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
