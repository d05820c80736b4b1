/** A value fills its hole and nothing else. Each case here was a way out of some allow-list. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from '../../schema/json.ts'
import { stdioServer } from '../../schema/toolkit/server.ts'
import { type StdioTemplateInput, stdioTemplates } from '../../schema/toolkit/stdio-template.ts'
import { permitCommand, type StdioPolicy } from './policy.ts'
import { realPath } from './real-path.ts'

const folder = mkdtempSync(join(tmpdir(), 'loadout-template-'))
const root = join(folder, 'projects')
mkdirSync(join(root, 'one'), { recursive: true })
mkdirSync(join(folder, 'projects-of-others'))
symlinkSync('/etc', join(root, 'link'))
symlinkSync(join(folder, 'not-there-yet'), join(root, 'dangling'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TEMPLATES: StdioTemplateInput[] = [
  {
    id: 'github',
    command: '/usr/bin/github-mcp',
    args: ['--org', '{org}', '--level={level}', '--limit={limit}'],
    env: { GITHUB_TOKEN: '{token}', NODE_ENV: 'production' },
    holes: {
      org: { type: 'string', pattern: '[\\w-]+', maxLength: 20 },
      level: { type: 'enum', values: ['read', 'write'] },
      limit: { type: 'integer', min: -5, max: 100 },
      token: { type: 'string' },
    },
  },
  {
    id: 'files',
    command: 'npx',
    args: ['-y', 'files@1.0.0', '{dir}'],
    holes: { dir: { type: 'path', roots: [root] } },
  },
  {
    id: 'web',
    command: 'fetcher',
    args: ['{url}'],
    holes: { url: { type: 'url', pattern: 'https://[^/]+\\.example/.*' } },
  },
  { id: 'free', command: 'say', args: ['{word}', 'a {word} b'], holes: { word: { type: 'string' } } },
  { id: 'fixed', command: 'node', args: ['server.js'], cwd: '/srv' },
  {
    id: 'dashes',
    command: 'say',
    args: ['{mode}', '{offset}', '{count}'],
    holes: {
      mode: { type: 'enum', values: ['--read-only', 'all'] },
      offset: { type: 'integer', min: -10, max: 10 },
      count: { type: 'integer' },
    },
  },
]
const templates = parse(stdioTemplates, TEMPLATES)
const permit = (record: object, policy: StdioPolicy = 'templates', tier: 'user' | 'app' = 'user') =>
  permitCommand(parse(stdioServer, { type: 'stdio', ...record }), tier, { policy, templates, realPath })
const lineOf = async (record: object) => (await permit(record)).line
const GITHUB = { org: 'acme', level: 'read', limit: '10', token: 'ghp_x' }

describe('a template', () => {
  it('is filled with the values of a record that names it', async () => {
    expect(await lineOf({ template: 'github', values: GITHUB })).toEqual({
      command: '/usr/bin/github-mcp',
      args: ['--org', 'acme', '--level=read', '--limit=10'],
      env: { GITHUB_TOKEN: 'ghp_x', NODE_ENV: 'production' },
    })
    expect((await lineOf({ template: 'free', values: { word: 'two words; $(x) {word}' } })).args).toEqual([
      'two words; $(x) {word}',
      'a two words; $(x) {word} b',
    ])
    for (const dir of [root, join(root, 'one'), join(root, 'one', 'new')])
      expect((await lineOf({ template: 'files', values: { dir } })).args[2]).toBe(dir)
  })

  it('matches a record with exactly the filled command line', async () => {
    const record = {
      command: '/usr/bin/github-mcp',
      args: ['--org', 'acme', '--level=write', '--limit=-3'],
      env: { GITHUB_TOKEN: 't', NODE_ENV: 'production' },
    }
    expect((await lineOf(record)).args).toEqual(record.args)
    expect((await lineOf({ command: 'node', args: ['server.js'], cwd: '/srv' })).cwd).toBe('/srv')
    for (const change of [
      { command: '/usr/bin/github-mcp2' },
      { command: 'github-mcp' },
      { args: [...record.args, '--exec'] },
      { args: record.args.slice(1) },
      { args: ['--org', '--exec=x', '--level=write', '--limit=3'] },
      { args: ['--org', 'acme', '--level=root', '--limit=3'] },
      { env: { ...record.env, NODE_OPTIONS: '--require=/tmp/x' } },
      { env: { ...record.env, NODE_ENV: 'development' } },
      { env: { GITHUB_TOKEN: 't' } },
      { cwd: '/tmp' },
    ])
      await expect(permit({ ...record, ...change })).rejects.toMatchObject({ code: 'stdio-refused' })
  })

  it.each<[string, object]>([
    ['no value', { ...GITHUB, org: undefined }],
    ['a value too many', { ...GITHUB, extra: 'x' }],
    ['a flag', { ...GITHUB, org: '--exec' }],
    ['a short flag', { ...GITHUB, org: '-e' }],
    ['a second argument', { ...GITHUB, org: 'a b' }],
    ['a line break', { ...GITHUB, org: 'a\nb' }],
    ['a line break after what fits', { ...GITHUB, org: 'acme\n' }],
    ['nothing', { ...GITHUB, org: '' }],
    ['too much', { ...GITHUB, org: 'a'.repeat(21) }],
    ['another word', { ...GITHUB, level: 'admin' }],
    ['no number', { ...GITHUB, limit: '1e3' }],
    ['a number with a tail', { ...GITHUB, limit: '10 --exec' }],
    ['a number out of range', { ...GITHUB, limit: '101' }],
    ['hidden characters', { ...GITHUB, token: 'a\u202eb' }],
    ['zero width', { ...GITHUB, token: 'a\u200bb' }],
  ])('rejects %s', async (_, input) => {
    const values = JSON.parse(JSON.stringify(input))
    await expect(permit({ template: 'github', values })).rejects.toMatchObject({ code: 'stdio-refused' })
  })

  it.each(['-rf', '-', '--', '\u2010x\n', '-e\u200b'])(
    'takes no flag where an argument is one hole: %j',
    async (word) => {
      await expect(permit({ template: 'free', values: { word } })).rejects.toMatchObject({ code: 'stdio-refused' })
    },
  )

  it('accepts a leading dash only where the operator allows it', async () => {
    const args = ['--read-only', '-5', '3']
    const values = { mode: '--read-only', offset: '-5', count: '3' }
    expect((await lineOf({ template: 'dashes', values })).args).toEqual(args)
    expect((await lineOf({ command: 'say', args })).args).toEqual(args)
    for (const wrong of [{ mode: '--write' }, { offset: '-11' }, { count: '-3' }])
      await expect(permit({ template: 'dashes', values: { ...values, ...wrong } })).rejects.toMatchObject({
        code: 'stdio-refused',
      })
  })

  it.each([
    '/etc',
    `${root}/../x`,
    `${root}/one/../../..`,
    'one',
    './one',
    `${root}-of-others`,
    `${root}/link`,
    `${root}/link/passwd`,
    `${root}/dangling`,
    `${root}/./one`,
    '~/x',
    '//etc',
  ])('rejects a path outside its folders: %s', async (dir) => {
    await expect(permit({ template: 'files', values: { dir } })).rejects.toMatchObject({ code: 'stdio-refused' })
  })

  it.each([
    'file:///etc/passwd',
    'javascript:1',
    'https://evil.test/?x=https://a.example/',
    'https://u:p@a.example/',
    'https://a.example/ --exec',
    'ftp://a.example/',
  ])('rejects the URL %s', async (url) => {
    await expect(permit({ template: 'web', values: { url } })).rejects.toMatchObject({ code: 'stdio-refused' })
  })

  it('names the rejected hole and never its value', async () => {
    const refused = await permit({ template: 'github', values: { ...GITHUB, token: 'ghp_secret\n' } }).catch(
      (error) => error,
    )
    expect(refused.message).toContain('"token"')
    expect(JSON.stringify([refused.message, refused.action])).not.toContain('ghp_secret')
  })

  it('that is unknown is reported with the known templates', async () => {
    await expect(permit({ template: 'nope' })).rejects.toThrow(/"nope".*github, files, web, free, fixed, dashes/)
  })
})

describe('the stdio policy', () => {
  const free = { command: 'sh', args: ['-c', 'x'] }
  it('decides each record by policy and tier', async () => {
    await expect(permit(free, 'off')).rejects.toMatchObject({ code: 'stdio-refused' })
    await expect(permit(free, 'templates')).rejects.toMatchObject({ code: 'stdio-refused' })
    await expect(permit({ template: 'github', values: GITHUB }, 'off')).rejects.toMatchObject({ code: 'stdio-refused' })
    expect(await permit(free, 'sandbox')).toMatchObject({ sandboxed: true })
    expect(await permit({ template: 'fixed' }, 'sandbox')).toMatchObject({ sandboxed: true, line: { command: 'node' } })
    expect(await permit(free, 'on')).toMatchObject({ sandboxed: false })
    // What the operator set up is the operator's own word.
    expect(await permit(free, 'off', 'app')).toMatchObject({ sandboxed: false })
  })

  it('denies a record when its value is unknown', async () => {
    await expect(permit(free, 'On' as StdioPolicy)).rejects.toMatchObject({ code: 'stdio-refused' })
  })
})

describe('the operator template list', () => {
  const one = (change: object) => ({
    id: 'x',
    command: 'node',
    args: ['{a}'],
    holes: { a: { type: 'string' } },
    ...change,
  })
  it.each<[string, object[]]>([
    ['a hole that nothing describes', [one({ args: ['{a}', '{b}'] })]],
    ['a hole that is used nowhere', [one({ args: [] })]],
    ['a hole in the command', [one({ command: '{a}' })]],
    ['a hole as the name of a flag', [one({ args: ['--{a}'] })]],
    ['a path without folders', [one({ holes: { a: { type: 'path', roots: [] } } })]],
    ['a pattern that is none', [one({ holes: { a: { type: 'string', pattern: '(' } } })]],
    ['two of one name', [one({}), one({})]],
    ['a field that is not known', [one({ shell: true })]],
  ])('rejects a list with %s', (_, list) => {
    expect(stdioTemplates.safeParse(list).success).toBe(false)
  })
})
