/** Form data of resources, URI templates and prompts from a server's listing. */

export interface Argument {
  name: string
  description: string
  required: boolean
}

/** The resource, template or prompt that a form fills in. The server suggests values for its arguments. */
export type OfferedItem =
  | { kind: 'resource'; uri: string }
  | { kind: 'template'; uriTemplate: string }
  | { kind: 'prompt'; name: string }

const MAX_ARGUMENTS = 50

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** An expression has an operator, names separated by commas, and marks for lists and lengths (RFC 6570). */
const EXPRESSION = /\{[+#./;?&]?([^{}]*)\}/g

export function templateArguments(uriTemplate: string): Argument[] {
  const names = [...uriTemplate.matchAll(EXPRESSION)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/(\*|:\d+)$/, '').trim()),
  )
  const unique = [...new Set(names)].filter((name) => name !== '')
  return unique.slice(0, MAX_ARGUMENTS).map((name) => ({ name, description: '', required: true }))
}

export function promptArguments(listed: unknown): Argument[] {
  if (!Array.isArray(listed)) return []
  return listed
    .filter((item) => typeof item === 'object' && item !== null && text(item.name) !== '')
    .slice(0, MAX_ARGUMENTS)
    .map(({ name, description, required }) => ({
      name: String(name),
      description: text(description),
      required: required === true,
    }))
}

/** Content blocks of a response: resource contents or prompt messages. */
export function blocksOf(answer: Record<string, unknown>): unknown[] {
  if (Array.isArray(answer.contents)) return answer.contents.map((resource) => ({ type: 'resource', resource }))
  if (!Array.isArray(answer.messages)) return []
  return answer.messages.map((message) => (message as { content?: unknown } | null)?.content)
}
