/**
 * Tool overrides of the owner: title, description and stricter annotations. The page shows the effective values and
 * keeps the server's.
 */
import type { Toolkit } from '../../../lib/api.ts'

type Tool = Toolkit['tools'][number]
type Overrides = Toolkit['options']['overrides']
export type Override = Overrides[string]
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'

/** The strict value of each annotation. Other override values have no effect. */
export const CAREFUL: Record<Hint, boolean> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}
export const HINTS = Object.keys(CAREFUL) as Hint[]

/** Dialog state; '' and off keep the server's value. */
export interface OverrideDraft {
  title: string
  description: string
  careful: ReadonlySet<Hint>
}

export const overrideOf = (
  { options }: Pick<Toolkit, 'options'>,
  { name }: Pick<Tool, 'name'>,
): Override | undefined => (Object.hasOwn(options.overrides, name) ? options.overrides[name] : undefined)

/** The tool as models see it, and its overridden fields. */
export function presentedTool(toolkit: Pick<Toolkit, 'options'>, tool: Tool): { tool: Tool; changed: string[] } {
  const { title, description, annotations } = overrideOf(toolkit, tool) ?? {}
  const careful = HINTS.filter((hint) => annotations?.[hint] === CAREFUL[hint])
  const tightened = careful.filter((hint) => tool.annotations?.[hint] !== CAREFUL[hint])
  const changed = [
    ...(title === undefined ? [] : ['title']),
    ...(description === undefined ? [] : ['description']),
    ...(tightened.length === 0 ? [] : ['claims']),
  ]
  if (changed.length === 0) return { tool, changed }
  const claims = Object.fromEntries(tightened.map((hint) => [hint, CAREFUL[hint]]))
  return {
    tool: {
      ...tool,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(tightened.length === 0 ? {} : { annotations: { ...tool.annotations, ...claims } }),
    },
    changed,
  }
}

export function overrideDraft(override: Override | undefined): OverrideDraft {
  const { title = '', description = '', annotations } = override ?? {}
  return { title, description, careful: new Set(HINTS.filter((hint) => annotations?.[hint] === CAREFUL[hint])) }
}

/** All overrides with this one; its other fields, such as name and examples, are preserved. */
export function overridesWith(overrides: Overrides, name: string, draft: OverrideDraft): Overrides {
  const { title: _, description: _old, annotations: claimed, ...rest } = overrides[name] ?? {}
  const title = draft.title.trim()
  const description = draft.description.trim()
  const storedTitle = claimed?.title === undefined ? {} : { title: claimed.title }
  const claims = { ...storedTitle, ...Object.fromEntries([...draft.careful].map((hint) => [hint, CAREFUL[hint]])) }
  const next: Override = {
    ...rest,
    ...(title === '' ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(Object.keys(claims).length === 0 ? {} : { annotations: claims }),
  }
  const { [name]: _before, ...others } = overrides
  return Object.keys(next).length === 0 ? others : { ...others, [name]: next }
}

export const NOTHING: OverrideDraft = { title: '', description: '', careful: new Set() }
