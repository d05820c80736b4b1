import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildSegment, type Segment } from '../index/segment.ts'
import { exactOf, hyphenedOf, isSmallTalk, runsOf, stemOf, wordsOf } from '../index/words.ts'
import type { SearchTool } from '../search.ts'
import { wordVectors } from '../vectors/read-vectors.ts'
import { WordVectors } from '../vectors/word-vectors.ts'
import { hybridScores, lexicalScores, meaningScores, type Scores, top } from './rank.ts'
import { explainHits } from './reasons.ts'

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
const exactWordsOf = (text: string) => runsOf(text).flatMap(exactOf)
const find = (text: string, segments = [buildSegment(TOOLS)], allow?: (ref: string) => boolean) =>
  top(segments, lexicalScores(segments, text), { text, limit: 3, allow }).map(({ ref }) => ref)

describe('search words', () => {
  it('are split like identifiers and also kept whole', () => {
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

  it('of scripts without spaces are character pairs, and other words between them stay whole', () => {
    expect(wordsOf('查询天气')).toEqual(['查询', '询天', '天气'])
    expect(wordsOf('天')).toEqual(['天'])
    expect(wordsOf('使用GitHub搜索')).toEqual(['使用', 'git', 'hub', '搜索'])
    expect(exactWordsOf('使用GitHub搜索')).toEqual(['使用', 'github', '搜索'])
  })

  it.each([
    ['s3Bucket', ['s', '3', 'bucket']],
    ['a1b2', ['a', '1', 'b', '2']],
    ['ÄpfelZählen', ['äpfel', 'zählen']],
    ['ＦＵＬＬ　ｗｉｄｔｈ', ['full', 'width']],
    ['🧨 boom🧨', ['boom']],
    ['이메일을 보내기', ['이메', '메일', '일을', '보내', '내기']],
    ['メール', ['メー', 'ール']],
    ['ｻｰﾊﾞｰ', ['サー', 'ーバ', 'バー']],
    ['ส่ง', ['ส่', '่ง']],
  ])('splits %s into %j', (text, words) => expect(wordsOf(text)).toEqual(words))

  it.each([
    ['이메일 보내기', 'mail.ko'],
    ['メール', 'mail.ja'],
    ['サーバーの再起動', 'server.ja'],
    ['票', 'ticket.zh'],
    ['火车票', 'ticket.zh'],
  ])('matches words of other scripts: %s', (text, ref) => {
    const tools = [
      tool('mail.ko', '이메일을 보냅니다'),
      tool('weather.ko', '날씨를 조회합니다'),
      tool('mail.ja', 'メールを送信する'),
      tool('server.ja', 'サーバーを再起動する'),
      tool('ticket.zh', '预订火车票'),
      tool('weather.zh', '查询天气预报'),
    ]
    expect(find(text, [buildSegment(tools)])[0]).toBe(ref)
  })

  it('match with and without a hyphen, and a single letter of one finds little', () => {
    expect(hyphenedOf('Send an E-mail in real-time, x_y-z 2-3 a-b-c-d')).toEqual([
      ['e', 'mail'],
      ['real', 'time'],
    ])
    const tools = [
      tool('a.post', 'Sends an e-mail.'),
      tool('b.mail', 'Sends an email.'),
      tool('c.log', 'The e option.'),
    ]
    const segments = [buildSegment(tools)]
    expect(find('email', segments).toSorted()).toEqual(['a.post', 'b.mail'])
    expect(find('an e-mail', segments)).toEqual(['a.post', 'b.mail'])
    expect(find('e', segments)[0]).toBe('c.log')
  })

  it('of courtesy count as small talk', () => {
    for (const text of ['thank you', 'Hello!', 'ok, thanks', 'how are you?']) expect(isSmallTalk(text)).toBe(true)
    for (const text of ['thank Bob', 'hello world', '', '🧨', '谢谢']) expect(isSmallTalk(text)).toBe(false)
  })

  it('are bounded and defined for any text', () =>
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
  ])('ranks for %s first: %s', (text, ref) => {
    expect(find(text)[0]).toBe(ref)
  })

  it('finds only allowed tools, however well others match', () =>
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

  it('scores a tool the same in any segment', () =>
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { minLength: TOOLS.length, maxLength: TOOLS.length }),
        fc.constantFrom(
          'open issues of a repository',
          'write a file',
          'weather in the city',
          'read 城市天气',
          'the of',
        ),
        (places, text) => {
          const groups = [0, 1, 2, 3].map((place) => TOOLS.filter((_, index) => places[index] === place))
          const several = groups.filter((group) => group.length > 0).map((group) => buildSegment(group))
          const scoresOf = (segments: Segment[]) =>
            new Map(
              lexicalScores(segments, text).flatMap((row, at) => refsOf(segments[at]).map((ref, i) => [ref, row[i]])),
            )
          const [one, many] = [scoresOf([buildSegment(TOOLS)]), scoresOf(several)]
          for (const [ref, score] of one) expect(many.get(ref)).toBeCloseTo(score as number, 5)
        },
      ),
    ))

  it('gives the same result every time, for any text and any tool order', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2000 }),
        fc.shuffledSubarray(TOOLS, { minLength: TOOLS.length }),
        (text, shuffled) => {
          expect(find(text, [buildSegment(shuffled)])).toEqual(find(text))
        },
      ),
    ))
})

const refsOf = (segment: Segment | undefined) => segment?.tools.map(({ ref }) => ref) ?? []

describe('common words', () => {
  it('find nothing next to rarer words, even if those match nothing', () => {
    expect(find('the issues')).toEqual(['github.list_issues'])
    expect(find('the xylophone')).toEqual([])
    expect(find('of the')).toContain('github.list_issues')
  })

  it('count for tools that other words find, and for all tools when meaning decides too', () => {
    const tools = [tool('a.one', 'Where files are.'), tool('a.two', 'Files.'), tool('b.three', 'Where it is.')]
    const segments = [buildSegment(tools)]
    const [strict, weak] = [false, true].map((one) => lexicalScores(segments, 'where files', { weak: one })[0])
    expect(strict?.[2]).toBe(0)
    expect(weak?.[2]).toBeGreaterThan(0)
    expect(weak?.[0]).toBe(1)
    expect(lexicalScores(segments, 'where is the xylophone', { weak: true })[0]?.every((score) => score === 0)).toBe(
      true,
    )
  })

  it('are learned from tools and queries', async () => {
    const words = new WordVectors(await wordVectors())
    const [the, need, pdf] = ['the', 'need', 'pdf'].map((word) => words.weightOf(word)) as [number, number, number]
    expect(the).toBeLessThan(need)
    expect(need).toBeLessThan(pdf)
    expect(words.weightOf('qwxzvkj')).toBe(1)
    const segments = [buildSegment([tool('a.need', 'Need.'), tool('b.pdf', 'PDF.')], words)]
    expect(find('I need a PDF', segments)[0]).toBe('b.pdf')
  })
})

describe('usage examples of a tool', () => {
  const trip = { ...tool('trip.plan', 'Makes a plan.'), examples: ['where shall we go on holiday?'] }

  it('find it and count less than its name', () => {
    const segments = [buildSegment([trip, tool('fun.holiday', 'Days off.'), ...TOOLS])]
    expect(find('holiday', segments)).toEqual(['fun.holiday', 'trip.plan'])
    const [, hit] = top(segments, lexicalScores(segments, 'holiday'), { text: 'holiday', limit: 2 })
    expect(explainHits(segments, hit ? [hit] : [], 'holiday')[0]?.reasons).toEqual([
      '"holiday" in what it was used for',
    ])
  })

  it('are part of its meaning', async () => {
    const words = new WordVectors(await wordVectors())
    const scoreOf = (one: SearchTool) =>
      meaningScores([buildSegment([one], words)], 'vacation at the beach', words)[0]?.[0]
    expect(scoreOf(trip)).toBeGreaterThan(scoreOf({ ...trip, examples: [] }) as number)
  })

  it('in an overlay do not change the word weights of shared tools', () => {
    const shared = buildSegment(TOOLS)
    const over = { ...buildSegment([TOOLS[0] as SearchTool]), isOverlay: true }
    const [, row] = lexicalScores([over, shared], 'issues of a file')
    const [alone] = lexicalScores([shared], 'issues of a file')
    expect(row).toEqual(alone)
  })
})

describe('the top results', () => {
  /** Reference implementation: scores and sorts every tool. */
  function slowly(segments: readonly Segment[], scores: Scores, allow: (ref: string) => boolean) {
    const all = segments.flatMap(({ tools }, segment) =>
      tools.map(({ ref }, at) => ({ ref, score: scores[segment]?.[at] ?? 0 })),
    )
    const allowed = all.filter(({ ref, score }) => score > 0 && allow(ref))
    const best = (ref: string) =>
      Math.max(...allowed.filter((one) => one.ref.split('.')[0] === ref.split('.')[0]).map(({ score }) => score))
    return allowed
      .map(({ ref, score }) => ({ ref, score: (score + 0.1 * best(ref)) / 1.1 }))
      .sort((a, b) => b.score - a.score || (a.ref < b.ref ? -1 : 1))
  }

  it('are the best allowed tools, raised by their toolkit, with ties in name order', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ toolkit: fc.nat(8), score: fc.integer({ min: -2, max: 20 }), allowed: fc.boolean() }), {
          maxLength: 90,
        }),
        fc.integer({ min: 1, max: 20 }),
        (input, limit) => {
          const tools = input.map(({ toolkit }, at) => tool(`kit${toolkit}.tool${at}`, ''))
          const segments = [buildSegment(tools.slice(0, 40)), buildSegment(tools.slice(40))]
          const values = input.map(({ score }) => score / 20)
          const scores = [Float32Array.from(values.slice(0, 40)), Float32Array.from(values.slice(40))]
          const allowed = new Set(tools.filter((_, at) => input[at]?.allowed).map(({ ref }) => ref))
          const allow = (ref: string) => allowed.has(ref)
          const found = top(segments, scores, { text: '', limit, allow })
          const expected = slowly(segments, scores, allow).slice(0, limit)
          expect(found.map(({ ref }) => ref)).toEqual(expected.map(({ ref }) => ref))
          for (const { ref, segment, at } of found) expect(segments[segment]?.tools[at]?.ref).toBe(ref)
        },
      ),
    ))

  it('are found below thousands of tools that are not allowed', () => {
    const tools = Array.from({ length: 5000 }, (_, at) => tool(`kit.tool${at}`, ''))
    const segments = [buildSegment(tools)]
    const scores = [Float32Array.from(tools, (_, at) => 1 - at / 5001)]
    const found = top(segments, scores, { text: '', limit: 3, allow: (ref) => Number(ref.slice(8)) >= 4990 })
    expect(found.map(({ ref }) => ref)).toEqual(['kit.tool4990', 'kit.tool4991', 'kit.tool4992'])
  })

  it('are empty for no tools', async () => {
    const words = new WordVectors(await wordVectors())
    for (const segments of [[], [buildSegment([], words)]]) {
      const mixed = hybridScores(lexicalScores(segments, 'x'), meaningScores(segments, 'x', words))
      expect(top(segments, mixed, { text: 'x', limit: 5 })).toEqual([])
    }
  })
})

it('search reasons name exactly the words that matched', () =>
  fc.assert(
    fc.property(fc.subarray(['issues', 'file', 'text', 'weather', 'repository', 'open']), (words) => {
      const segments = [buildSegment(TOOLS)]
      const text = words.join(' ')
      for (const { ref, reasons } of explainHits(
        segments,
        top(segments, lexicalScores(segments, text), { text, limit: 9 }),
        text,
      )) {
        const { name = '', description = '' } = TOOLS.find((one) => one.ref === ref) ?? {}
        const has = (field: string, word: string) => wordsOf(field).map(stemOf).includes(stemOf(word))
        for (const word of words) {
          expect(reasons.some((one) => one.includes(`"${word}"`) && one.endsWith('its name'))).toBe(has(name, word))
          expect(reasons.some((one) => one.includes(`"${word}"`) && one.endsWith('its description'))).toBe(
            has(description, word),
          )
        }
      }
    }),
  ))
