/**
 * Operator templates of stdio commands. A hole is a typed `{name}` inside an argument or environment value; it can
 * never become a program, a flag or a variable name.
 */
import { z } from 'zod'
import { safeRecord } from '../json.ts'

const text = z
  .string()
  .max(8192)
  .refine((value) => !value.includes('\0'), 'must not hold a NUL character')
const maxLength = z.number().int().min(1).max(8192).default(200)
const pattern = z.string().min(1).max(1000).refine(isPattern, 'is not a regular expression').optional()
/** Labels for the form. */
const labels = { title: z.string().min(1).max(100).optional(), description: z.string().min(1).max(1000).optional() }

export const templateHole = z.discriminatedUnion('type', [
  /** Printable characters, optionally restricted by `pattern`. Forms hide the input unless `secret` is false. */
  z.strictObject({ ...labels, type: z.literal('string'), pattern, maxLength, secret: z.boolean().default(true) }),
  /** An absolute path inside one of `roots`, also after symlinks are resolved. */
  z.strictObject({
    ...labels,
    type: z.literal('path'),
    roots: z.array(text.startsWith('/', 'must be absolute')).min(1, 'must name at least one folder').max(32),
    maxLength: maxLength.default(1024),
  }),
  /** An http or https URL without a user name or password. */
  z.strictObject({ ...labels, type: z.literal('url'), pattern, maxLength: maxLength.default(2048) }),
  z.strictObject({
    ...labels,
    type: z.literal('integer'),
    min: z.number().int().optional(),
    max: z.number().int().optional(),
  }),
  z.strictObject({ ...labels, type: z.literal('enum'), values: z.array(text.min(1)).min(1).max(200) }),
])
export type TemplateHole = z.infer<typeof templateHole>

const HOLE = /\{([A-Za-z][A-Za-z0-9_]{0,63})\}/g

/** Names of the holes in a text, in order. */
export const holesIn = (value: string): string[] => [...value.matchAll(HOLE)].map((match) => match[1] as string)

/** Fills each hole once: a value that looks like a hole is not expanded. */
export const fillHoles = (value: string, fill: (hole: string) => string): string =>
  value.replace(HOLE, (_, hole: string) => fill(hole))

export const stdioTemplate = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, "-" and "_"'),
    ...labels,
    command: text.min(1, 'must not be empty'),
    args: z.array(text).max(256).default([]),
    env: safeRecord(text).default({}),
    cwd: text.min(1).optional(),
    /** Hosts that the sandboxed server may reach. */
    hosts: z.array(z.string().min(1).max(260)).max(64).optional(),
    holes: safeRecord(templateHole).default({}),
  })
  .superRefine((template, context) => {
    const add = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    const used = new Set<string>()
    const checkHoles = (value: string, path: (string | number)[]) => {
      for (const hole of holesIn(value)) {
        used.add(hole)
        if (!Object.hasOwn(template.holes, hole)) add(path, `has the hole "${hole}", which "holes" does not describe`)
      }
    }
    template.args.forEach((arg, index) => {
      checkHoles(arg, ['args', index])
      if (/^--?\{/.test(arg)) add(['args', index], 'has a hole as the name of a flag')
    })
    for (const [name, value] of Object.entries(template.env)) checkHoles(value, ['env', name])
    if (holesIn(template.command).length > 0) add(['command'], 'must not have a hole')
    for (const hole of Object.keys(template.holes)) if (!used.has(hole)) add(['holes', hole], 'is used nowhere')
  })
export type StdioTemplate = z.infer<typeof stdioTemplate>

/** A template as users see it: labels and holes, without the command. */
export const offeredTemplate = z.object({
  id: z.string(),
  ...labels,
  holes: z.array(z.object({ name: z.string(), hole: templateHole })),
})
export type OfferedTemplate = z.infer<typeof offeredTemplate>

/** Holes in the operator's order. */
export const offerTemplate = ({ id, title, description, holes }: StdioTemplate): OfferedTemplate => ({
  id,
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
  holes: Object.entries(holes).map(([name, hole]) => ({ name, hole })),
})
export type StdioTemplateInput = z.input<typeof stdioTemplate>

export const stdioTemplates = z
  .array(stdioTemplate)
  .max(1000)
  .superRefine((templates, context) => {
    const seen = new Set<string>()
    templates.forEach(({ id }, index) => {
      if (seen.has(id)) context.addIssue({ code: 'custom', path: [index, 'id'], message: `"${id}" is there twice` })
      seen.add(id)
    })
  })

function isPattern(value: string): boolean {
  try {
    new RegExp(`^(?:${value})$`, 'u')
    return true
  } catch {
    return false
  }
}
