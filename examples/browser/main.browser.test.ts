/** The page itself, in a real browser, against a real server; and loaded again. */
import { browserKeyRing } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { indexedDb } from '@loadout/core/storage/indexeddb'
import { afterEach, describe, expect, inject, it } from 'vitest'

const frame = document.createElement('iframe')
afterEach(() => frame.remove())

const said = (id: string) => frame.contentDocument?.getElementById(id)?.textContent ?? ''
const lines = (id: string) =>
  [...(frame.contentDocument?.querySelectorAll(`#${id} li`) ?? [])].map((li) => li.textContent)
const ended = () => expect.poll(() => said('story')).not.toBe('')

describe('examples/browser', () => {
  it('shows the available tools and why, calls a tool, and finds all data again after a reload', async () => {
    const query = new URLSearchParams({ server: inject('notesUrl'), database: `page-${crypto.randomUUID()}` })
    frame.src = `/examples/browser/index.html?${query}`
    document.body.append(frame)
    await ended()
    expect(said('story')).toBe('All of it holds. Load this page again.')
    expect(lines('loadout')).toEqual(['notes.list_notes', 'notes.add_note'])
    expect(lines('explain')).toHaveLength(3)
    expect(lines('explain')[2]).toContain('notes.delete_notes is not carried')
    expect(lines('explain')[2]).toContain('Switched off at the thread tier by "notes.delete_*"')
    expect(said('answer')).toBe('Buy bread, Call Ann')

    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }))
    frame.contentWindow?.location.reload()
    await loaded
    await ended()
    // The server takes no call without the key, so the key was found again too.
    expect(said('story')).toBe('It was all still here.')
    expect(lines('loadout')).toEqual(['notes.list_notes', 'notes.add_note'])
    expect(said('answer')).toBe('Buy bread, Call Ann')
  })

  it('reports a failed check', async () => {
    const query = new URLSearchParams({ server: inject('sessionsUrl'), database: `page-${crypto.randomUUID()}` })
    frame.src = `/examples/browser/index.html?${query}`
    document.body.append(frame)
    await ended()
    expect(said('story')).toContain('This does not hold: the thread carries two tools')
  })
})

describe('a host in a browser page', () => {
  const openHost = (database: string) =>
    createServices({
      storage: indexedDb({ database }),
      keyRing: () => browserKeyRing({ database: `${database}-keys` }),
    })
  const me = { tier: 'user', userId: 'me' } as const

  it('keeps a legacy session, and a second host finds the toolkit, thread and activations again', async () => {
    const database = `host-${crypto.randomUUID()}`
    const first = openHost(database)
    await first.toolkits.register({ name: 'kit', url: inject('sessionsUrl'), headers: { 'X-Key': 'x' } }, me)
    const thread = first.thread({ userId: 'me', threadId: 't' })
    expect((await thread.loadout()).tools.map((tool) => tool.ref)).toEqual(['kit.echo'])
    expect(await thread.call({ name: 'kit.echo', arguments: { text: 'hi' } })).toMatchObject({
      status: 'ok',
      content: [{ text: 'hi' }],
    })
    await thread.deactivate('kit.echo')
    await first.threads.update('me', 't', { title: 'Shopping' })
    await first.close()

    const again = openHost(database)
    const [stored] = await again.toolkits.list('me')
    expect(await again.credentials.open({ userId: 'me', toolkit: stored?.uscoId ?? '' })).toEqual({
      'headers.X-Key': 'x',
    })
    expect(await again.threads.list('me')).toMatchObject([{ id: 't', title: 'Shopping' }])
    const same = again.thread({ userId: 'me', threadId: 't' })
    expect(await same.activations()).toMatchObject([{ ref: 'kit.echo', on: false }])
    expect(await same.call({ name: 'kit.echo', arguments: { text: 'hi' } })).toMatchObject({
      error: { code: 'not-carried' },
    })
    await same.reset()
    expect(await same.call({ name: 'kit.echo', arguments: { text: 'again' } })).toMatchObject({ status: 'ok' })
    await again.close()
  })

  it('fails with a protocol error when it cannot read the session ID', async () => {
    const host = openHost(`host-${crypto.randomUUID()}`)
    const looked = host.discover({ name: 'kit', url: inject('closedUrl') })
    await expect(looked).rejects.toMatchObject({ code: 'protocol-error' })
    await host.close()
  })

  it('rejects commands with an error', async () => {
    const host = openHost(`host-${crypto.randomUUID()}`)
    await expect(host.discover({ name: 'files', command: 'npx' })).rejects.toMatchObject({ code: 'stdio-refused' })
    await host.close()
  })
})
