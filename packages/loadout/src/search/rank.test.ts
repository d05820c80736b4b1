import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lexicalScores, top } from './rank.ts'
import type { SearchTool } from './search.ts'
import { buildSegment } from './segment.ts'
import { exactWordsOf, stemOf, wordsOf } from './words.ts'

const tool = (ref: string, description: string, properties: Record<string, object> = {}): SearchTool => {
  const [toolkit = '', name = ''] = ref.split('.')
  return { ref, name, toolkit, description, inputSchema: { type: 'object', properties } }
}
const TOOLS = [
  tool('github.list_issues', 'Lists the issues of a repository.', { state: { description: 'open or closed' } }),
  tool('github.createPullRequest', 'Opens a pull request from a branch.'),
  tool('files.read_text_file', 'Reads a file as text.', { path: { type: 'string' } }),
  tool('files.write_file', 'Writes text to a file, and replaces what was there.'),
  tool('weather.forecast', 'What the weather will be in a city.', { city: { description: 'its name' } }),
  tool('地图.查询天气', '查询城市的天气预报'),
]
const find = (text: string, segments = [buildSegment(TOOLS)], allow?: (ref: string) => boolean) =>
  top(segments, lexicalScores(segments, text), { text, limit: 3, allow }).map(({ ref }) => ref)

describe('words', () => {
  it('are split where identifiers are, and stand as they are beside that', () => {
    expect(wordsOf('readTextFile read_text-file HTTPServer2')).toEqual([
      'read',
      'text',
      'file',
      'read',
      'text',
      'file',
      'http',
      'server',
      '2',
    ])
    expect(exactWordsOf('readTextFile')).toEqual(['readtextfile'])
    expect(['issues', 'issue', 'reading'].map(stemOf)).toEqual(['issu', 'issu', 'read'])
  })

  it('of scripts without spaces are pairs of characters', () => {
    expect(wordsOf('查询天气')).toEqual(['查询', '询天', '天气'])
    expect(wordsOf('天')).toEqual(['天'])
  })

  it('are bounded and defined, whatever comes', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        for (const word of [...wordsOf(text), ...exactWordsOf(text)]) expect(word.length).toBeLessThanOrEqual(64)
      }),
    ))
})

describe('ranking', () => {
  it.each([
    ['show me open issues', 'github.list_issues'],
    ['open a PR: create pull request', 'github.createPullRequest'],
    ['what does this file say, read it', 'files.read_text_file'],
    ['will it rain in Paris? weather', 'weather.forecast'],
    ['城市天气', '地图.查询天气'],
    ['read_text_file', 'files.read_text_file'],
  ])('%s → %s', (text, ref) => {
    expect(find(text)[0]).toBe(ref)
  })

  it('finds nothing that is not allowed, however well it fits', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...TOOLS.map(({ ref }) => ref)),
        fc.subarray(TOOLS.map(({ ref }) => ref)),
        (text, some) => {
          const allowed = new Set(some)
          for (const ref of find(text, undefined, (one) => allowed.has(one))) expect(allowed.has(ref)).toBe(true)
        },
      ),
    ))

  it('is the same over one segment and over several', () => {
    const several = TOOLS.map((one) => buildSegment([one]))
    for (const text of ['open issues', 'write a file', 'weather']) expect(find(text, several)[0]).toBe(find(text)[0])
  })

  it('is the same every time, also for what nobody expects', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
        expect(find(text)).toEqual(find(text))
      }),
    ))
})
