import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examplesIn, renderExamples, SOURCES, TARGET } from '../../scripts/write-examples.ts'
import { LIBRARY, ROOT } from './import-graph.ts'

const read = (path: string) => readFileSync(join(LIBRARY, path), 'utf8')
/** Without white space and trailing commas: the file is formatted, the comments are not. */
const bare = (text: string) => text.replace(/\s+/g, '').replaceAll(/,(?=[)\]}])/g, '')
/** Members of an interface, with the comment before each. */
const MEMBER = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\n {2}(?:readonly )?(\w+)\??(?:\(|:)/g
const API = ['Host', 'HostOps', 'AppToolkits', 'UserScope', 'UserToolkits', 'UserApprovals', 'Thread', 'HostOptions']

describe('the examples of the public API', () => {
  it('are compiled in one file, which is up to date', () => {
    expect(bare(readFileSync(join(ROOT, TARGET), 'utf8')), 'Run `npm run examples:write`.').toBe(
      bare(renderExamples(read)),
    )
  })

  it('are found in comments of one and of several lines', () => {
    expect(
      examplesIn('/** @example a()\n */\n/**\n * Text.\n *\n * @example\n * b()\n * c()\n * @default d */'),
    ).toEqual(['a()', 'b()\nc()'])
  })

  it('exist for each member that is a function or an option', () => {
    const text = SOURCES.map(read).join('\n')
    for (const name of API) {
      const body = new RegExp(`export interface ${name} [^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? ''
      expect(body, name).not.toBe('')
      const members = [...`\n${body}`.matchAll(MEMBER)]
      expect(members.length, name).toBeGreaterThan(2)
      const plain = members.filter(([all, comment = '']) => {
        const isGroup = /\n {2}readonly \w+\??:/.test(all)
        return !isGroup && !comment.includes('@example')
      })
      expect(plain.map(([, , member]) => `${name}.${member}`).filter((member) => !OWN_INTERFACE.has(member))).toEqual(
        [],
      )
    }
  })
})

/** Described where their own interface is. */
const OWN_INTERFACE = new Set(['Host.close'])
