import { describe, expect, it } from 'vitest'
import type { HostEvent } from '../events.ts'
import { createServices } from '../host/create-services.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const bob = { tier: 'user', userId: 'bob' } as const
const FILES = { name: 'Files', command: 'npx', args: ['-y', 'server-filesystem', '.'] }

const names = async (host: ReturnType<typeof createServices>, userId: string) =>
  (await host.toolkits.list(userId)).map((stored) => `${stored.tier}:${stored.toolkit.id}`)

describe('the registry', () => {
  it('has no toolkits in an empty host', async () => {
    expect(await createServices().toolkits.list('ann')).toEqual([])
  })

  it('registers, updates and removes toolkits at runtime and emits events', async () => {
    const host = createServices()
    const events: HostEvent[] = []
    host.events.on((event) => events.push(event))
    const { stored, created } = await host.toolkits.register(FILES, ann)
    expect([stored.toolkit.id, created]).toEqual(['files', true])
    const again = await host.toolkits.register({ ...FILES, args: ['x'] }, ann)
    expect([again.stored.uscoId, again.created]).toEqual([stored.uscoId, false])
    await host.toolkits.update('files', { enabled: false, name: 'My files' }, ann)
    expect((await host.toolkits.find('ann', stored.uscoId)).toolkit).toMatchObject({
      id: 'files',
      name: 'My files',
      enabled: false,
      server: { args: ['x'] },
    })
    await host.toolkits.remove('files', ann)
    expect(await names(host, 'ann')).toEqual([])
    expect(events.map((event) => event.type)).toEqual([
      'toolkit-registered',
      'toolkit-updated',
      'toolkit-updated',
      'toolkit-removed',
    ])
  })

  it('accepts only one of several updates that require the same version', async () => {
    const host = createServices()
    const { stored } = await host.toolkits.register(FILES, ann)
    const which = { id: 'files', unchangedSince: stored.row.updatedAt }
    const changes = ['one', 'two', 'three'].map((name) => host.toolkits.update(which, { name }, ann))
    const outcomes = await Promise.allSettled(changes)
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toMatchObject([{ code: 'conflict' }, { code: 'conflict' }])
    expect(refused[0]).toMatchObject({
      message: 'The toolkit was changed since you read it.',
      action: 'Read it again, then send your changes on top of it.',
    })
    const { row } = await host.toolkits.find('ann', 'files')
    const next = await host.toolkits.update({ id: 'files', unchangedSince: row.updatedAt }, { name: 'last' }, ann)
    expect(next.stored.toolkit.name).toBe('last')
  })

  it('upserts by id, then by name, and rejects a rename to a taken name without data loss', async () => {
    const host = createServices()
    await host.toolkits.register({ id: 'one', ...FILES }, ann)
    await host.toolkits.register({ ...FILES, name: 'Other' }, ann)
    expect((await host.toolkits.register({ id: 'new-id', ...FILES }, ann)).stored.toolkit.id).toBe('one')
    const rename = host.toolkits.update('other', { name: 'Files' }, ann)
    await expect(rename).rejects.toMatchObject({
      code: 'conflict',
      errors: [{ path: 'name', message: 'is already taken' }],
    })
    const byId = host.toolkits.register({ id: 'other', ...FILES }, ann)
    await expect(byId).rejects.toMatchObject({ code: 'conflict' })
    expect(await names(host, 'ann')).toEqual(['user:one', 'user:other'])
  })

  it('accepts concurrent first registrations of one name or one id', async () => {
    const host = createServices()
    const same = await Promise.all(Array.from({ length: 8 }, () => host.toolkits.register(FILES, ann)))
    expect(new Set(same.map(({ stored }) => stored.uscoId)).size).toBe(1)
    const alike = await Promise.all(
      ['Git Hub', 'git-hub', 'GIT HUB'].map((name) => host.toolkits.register({ ...FILES, name }, ann)),
    )
    expect(new Set(alike.map(({ stored }) => stored.toolkit.id)).size).toBe(3)
  })

  it('warns when it ignores a given id because the name has another', async () => {
    const host = createServices()
    await host.toolkits.register({ id: 'one', ...FILES }, ann)
    const { stored, warnings } = await host.toolkits.register({ id: 'two', ...FILES }, ann)
    expect([stored.toolkit.id, warnings]).toEqual(['one', [expect.stringContaining('"one"')]])
  })

  it('creates a free id when two names map to the same id', async () => {
    const host = createServices()
    await host.toolkits.register({ ...FILES, name: 'Git Hub' }, ann)
    expect((await host.toolkits.register({ ...FILES, name: 'Git-Hub!' }, ann)).stored.toolkit.id).toBe('git-hub-2')
  })

  it('finds toolkits whose ids start with an internal prefix', async () => {
    const host = createServices()
    const { stored } = await host.toolkits.register({ ...FILES, name: 'usco_x' }, ann)
    await host.toolkits.register({ ...FILES, name: 'call_center' }, ann)
    expect(await names(host, 'ann')).toEqual(['user:usco_x', 'user:call_center'])
    await host.toolkits.update('usco_x', { account: 'work' }, ann)
    await host.toolkits.update(stored.uscoId, { enabled: false }, ann)
    expect((await host.toolkits.find('ann', 'usco_x')).toolkit).toMatchObject({ account: 'work', enabled: false })
    await host.toolkits.remove('call_center', ann)
    expect(await names(host, 'ann')).toEqual(['user:usco_x'])
  })

  it('separates the toolkits of each user and of the app', async () => {
    const host = createServices()
    await host.toolkits.register(FILES, { tier: 'app' })
    await host.toolkits.register({ ...FILES, name: 'Mine' }, ann)
    expect(await names(host, 'ann')).toEqual(['user:mine', 'app:files'])
    expect(await names(host, 'bob')).toEqual(['app:files'])
    await expect(host.toolkits.find('bob', 'mine')).rejects.toMatchObject({ code: 'not-found' })
    await expect(host.toolkits.remove('mine', bob)).rejects.toMatchObject({ code: 'not-found' })
    await expect(host.toolkits.update('mine', { enabled: false }, bob)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('hides an app toolkit behind a user toolkit with the same id and marks it', async () => {
    const host = createServices()
    await host.toolkits.register(FILES, { tier: 'app' })
    await host.toolkits.register(FILES, ann)
    const [own, ...rest] = await host.toolkits.list('ann')
    expect([own?.tier, own?.shadows, rest.length]).toEqual(['user', 'app', 0])
    await host.toolkits.remove('files', ann)
    expect(await names(host, 'ann')).toEqual(['app:files'])
  })

  it('lets a user turn off an app toolkit for themselves only', async () => {
    const host = createServices()
    await host.toolkits.register(FILES, { tier: 'app' })
    await host.toolkits.setEnabled('ann', 'files', false)
    expect((await host.toolkits.find('ann', 'files')).enabled).toBe(false)
    expect((await host.toolkits.find('bob', 'files')).enabled).toBe(true)
    await host.toolkits.setEnabled('ann', 'files', true)
    expect((await host.toolkits.find('ann', 'files')).enabled).toBe(true)
    await host.toolkits.update('files', { enabled: false }, { tier: 'app' })
    expect((await host.toolkits.find('ann', 'files')).enabled).toBe(false)
  })

  it('stores secrets apart from the record, keeps them through updates and deletes them with it', async () => {
    const host = createServices()
    const { stored } = await host.toolkits.register({ ...FILES, env: { TOKEN: 's3cret', GONE: 'soon' } }, ann)
    const owner = { userId: 'ann', toolkit: stored.uscoId }
    expect(JSON.stringify(await host.toolkits.list('ann'))).not.toContain('s3cret')
    await host.toolkits.update('files', { env: { TOKEN: '${secret:env.TOKEN}', NEW: 'n' } }, ann)
    expect(await host.credentials.open(owner)).toEqual({ 'env.TOKEN': 's3cret', 'env.NEW': 'n' })
    await host.toolkits.update('files', { name: 'Renamed' }, ann)
    expect(await host.credentials.open(owner)).toEqual({ 'env.TOKEN': 's3cret', 'env.NEW': 'n' })
    await host.toolkits.remove('files', ann)
    expect(await host.credentials.open(owner)).toEqual({})
  })

  it('rejects a record for the other tier', async () => {
    const register = createServices().toolkits.register({ ...FILES, scope: 'app' }, ann)
    await expect(register).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [expect.objectContaining({ path: 'scope' })],
    })
  })

  it('requires a persistent key ring for persistent storage', () => {
    const lasting = { ...createServices().storage, name: 'pglite' }
    expect(() => createServices({ storage: lasting })).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
