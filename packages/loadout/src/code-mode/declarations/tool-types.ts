/**
 * Declaration file of tools for apps: it merges the input and output type of each tool into `ToolTypes`, so that the compiler checks
 * `ann.call` and `defineWorkflow`. The text depends on the tools only, not on their order.
 */
import type { ToolkitView, ToolView } from '../../schema/toolkit/toolkit.ts'
import { quoted } from '../function-names.ts'
import { toolComment } from './jsdoc.ts'
import { draftType, FULL } from './schema-to-type.ts'
import { TypeNames } from './type-names.ts'

export interface TypedToolkit extends Pick<ToolkitView, 'tier'> {
  tools: ReadonlyArray<Pick<ToolView, 'ref' | 'title' | 'description' | 'inputSchema' | 'outputSchema'>>
}

const HEAD = `// Written by \`loadout types\`. Run it again when a server or its tools change.
import '@loadout/core'
`

/**
 * Declares the tools of toolkits as a TypeScript declaration file.
 * @example await writeFile('src/tools.d.ts', toolTypes(await ann.toolkits.list()))
 */
export function toolTypes(toolkits: readonly TypedToolkit[]): string {
  const names = new TypeNames()
  const types: string[] = []
  const members = withoutShadowed(toolkits).map(({ ref, title, description, inputSchema, outputSchema }) => {
    const drafts = [draftType(inputSchema, FULL, 'Input'), draftType(outputSchema, FULL, 'Output')]
    const named = names.name(drafts, ref.split('.'))
    names.keep(named)
    for (const { text } of named.added.values()) types.push(text)
    const [input = 'unknown', output = 'unknown'] = named.texts.map(indented)
    const comment = toolComment(description ?? title, [], '    ')
    return `${comment}    ${quoted(ref)}: {\n      input: ${input}\n      output: ${output}\n    }\n`
  })
  const declared = `declare module '@loadout/core' {\n  interface ToolTypes {\n${members.join('')}  }\n}\n`
  return [HEAD, ...types, declared].join('\n')
}

/** A user's toolkit shadows the app's toolkit of the same ID. */
function withoutShadowed(toolkits: readonly TypedToolkit[]): TypedToolkit['tools'][number][] {
  const byRef = new Map<string, TypedToolkit['tools'][number]>()
  const ownLast = toolkits.toSorted((a, b) => Number(a.tier === 'user') - Number(b.tier === 'user'))
  for (const tool of ownLast.flatMap(({ tools }) => tools)) byRef.set(tool.ref, tool)
  return [...byRef.values()].sort((a, b) => (a.ref < b.ref ? -1 : 1))
}

/** A type is written for a place two spaces deep; here it is six deep. No string literal contains a line break. */
const indented = (type: string) => type.replaceAll('\n', '\n    ')
