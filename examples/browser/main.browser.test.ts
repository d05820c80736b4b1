/** The page in a real browser, against a real server, and after a reload. */
import { browserKeyRing, createHost } from '@loadout/core'
import { indexedDb } from '@loadout/core/storage/indexeddb'
import { afterEach, describe, expect, inject, it } from 'vitest'

const frame = document.createElement('iframe')
afterEach(() => frame.remove())

const textOf = (id: string) => frame.contentDocument?.getElementById(id)?.textContent ?? ''
const lines = (id: string) =>
  [...(frame.contentDocument?.querySelectorAll(`#${id} li`) ?? [])].map((li) => li.textContent)
const ended = () => expect.poll(() => textOf('story')).not.toBe('')

describe('examples/browser', () => {
  it('shows the available tools and why, calls a tool, and finds all data again after a reload', async () => {
    const query = new URLSearchParams({ server: inject('notesUrl'), database: `page-${crypto.randomUUID()}` })
    frame.src = `/examples/browser/index.html?${query}`
    document.body.append(frame)
    await ended()
    expect(textOf('story')).toBe('All checks passed. Reload this page.')
    expect(lines('loadout')).toEqual(['notes.list_notes', 'notes.add_note'])
    expect(lines('explain')).toHaveLength(3)
    expect(lines('explain')[2]).toContain('notes.delete_notes is not available')
    expect(lines('explain')[2]).toContain('Switched off at the thread tier by "notes.delete_*"')
    expect(textOf('answer')).toBe('Buy bread, Call Ann')

    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }))
    frame.contentWindow?.location.reload()
    await loaded
    await ended()
    // The server rejects calls without the key, so the key was found again too.
    expect(textOf('story')).toBe('All data was found again.')
    expect(lines('loadout')).toEqual(['notes.list_notes', 'notes.add_note'])
    expect(textOf('answer')).toBe('Buy bread, Call Ann')
  })

  it('reports a failed check', async () => {
    const query = new URLSearchParams({ server: inject('sessionsUrl'), database: `page-${crypto.randomUUID()}` })
    frame.src = `/examples/browser/index.html?${query}`
    document.body.append(frame)
    await ended()
    expect(textOf('story')).toContain('Check failed: the thread has two tools')
  })
})

describe('a host in a browser page', () => {
  const openHost = (database: string) =>
    createHost({
      storage: indexedDb({ database }),
      keyRing: () => browserKeyRing({ database: `${database}-keys` }),
    })

  it('keeps a legacy session, and a second host finds the toolkit, thread and activations again', async () => {
    const database = `host-${crypto.randomUUID()}`
    const first = openHost(database)
    const me = first.user('me')
    await me.toolkits.add({ name: 'kit', url: inject('sessionsUrl'), headers: { 'X-Key': 'x' } })
    const thread = me.thread('t')
    expect((await thread.loadout()).tools.map((tool) => tool.ref)).toEqual(['kit.echo'])
    expect(await thread.call({ name: 'kit.echo', arguments: { text: 'hi' } })).toMatchObject({
      status: 'ok',
      content: [{ text: 'hi' }],
    })
    await thread.deactivate('kit.echo')
    await me.threads.update('t', { title: 'Shopping' })
    await first.close()

    const second = openHost(database)
    const sameUser = second.user('me')
    const [toolkit] = await sameUser.toolkits.list()
    const secrets = await second.services.credentials.open({ userId: 'me', toolkit: toolkit?.uscoId ?? '' })
    expect(secrets).toEqual({ 'headers.X-Key': 'x' })
    expect(await sameUser.threads.list()).toMatchObject([{ id: 't', title: 'Shopping' }])
    const sameThread = sameUser.thread('t')
    expect(await sameThread.activations()).toMatchObject([{ ref: 'kit.echo', on: false }])
    expect(await sameThread.call({ name: 'kit.echo', arguments: { text: 'hi' } })).toMatchObject({
      error: { code: 'not-carried' },
    })
    await sameThread.reset()
    expect(await sameThread.call({ name: 'kit.echo', arguments: { text: 'again' } })).toMatchObject({ status: 'ok' })
    await second.close()
  })

  it('fails with a protocol error when it cannot read the session ID', async () => {
    const host = openHost(`host-${crypto.randomUUID()}`)
    const discovery = host.toolkits.discover({ name: 'kit', url: inject('closedUrl') })
    await expect(discovery).rejects.toMatchObject({ code: 'protocol-error' })
    await host.close()
  })

  it('rejects commands with an error', async () => {
    const host = openHost(`host-${crypto.randomUUID()}`)
    await expect(host.toolkits.discover({ name: 'files', command: 'npx' })).rejects.toMatchObject({
      code: 'stdio-refused',
    })
    await host.close()
  })
})
