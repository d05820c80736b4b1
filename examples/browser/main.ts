/**
 * The same library in a page: it stores its data in IndexedDB and reads it after a reload.
 * Try it: `npx vite examples/browser`.
 */
const query = new URLSearchParams(location.search)
const url = query.get('server') ?? 'http://127.0.0.1:4310/mcp'
const database = query.get('database') ?? 'loadout'

//#region example
import { browserKeyRing, createHost } from '@loadout/core'
import { indexedDb } from '@loadout/core/storage/indexeddb'

const host = createHost({
  storage: indexedDb({ database }),
  keyRing: () => browserKeyRing({ database: `${database}-keys` }), // a key that even this page cannot read
})
const me = host.user('me')
const thread = me.thread('shopping')

const isFirstVisit = (await me.toolkits.list()).length === 0
if (isFirstVisit) {
  const notes = { name: 'Notes', url, headers: { 'X-Api-Key': 's3cret' } }
  await me.toolkits.add(notes) // the key is encrypted before it is stored
  await thread.loadout() // discovers the tools
  await thread.deactivate('notes.delete_*')
}

const { tools } = await thread.loadout()
const explained = await thread.explain()
const answer = await thread.call({ name: 'notes.list_notes', arguments: {} })
const blocked = await thread.call({ name: 'notes.delete_notes', arguments: {} }) // a value, not an exception
//#endregion
const showList = (id: string, lines: string[]) =>
  document.getElementById(id)?.replaceChildren(
    ...lines.map((line) => {
      const item = document.createElement('li')
      item.textContent = line
      return item
    }),
  )
const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(`Check failed: ${what}`)
}
const showText = (id: string, text: string) => document.getElementById(id)?.append(text)

try {
  const refs = tools.map((tool) => tool.ref)
  showList('loadout', refs)
  showList(
    'explain',
    explained.map(({ ref, included, reasons }) => {
      const why = reasons.map((reason) => reason.detail).join(' ')
      return `${ref} is ${included ? 'available' : 'not available'}. ${why}`
    }),
  )
  const text = 'content' in answer ? String(answer.content[0]?.text) : answer.error.message
  showText('answer', text)
  check(refs.join() === 'notes.list_notes,notes.add_note', `the thread has two tools, not ${refs}`)
  check(explained.length === 3, 'all three tools are explained')
  check(text === 'Buy bread, Call Ann', `the notes are read, not "${text}"`)
  check('error' in blocked && blocked.error.code === 'not-carried', 'a tool that is off is not called')
  const stored = JSON.stringify(await me.toolkits.list())
  check(!stored.includes('s3cret'), 'the key is in no record')
  showText('story', isFirstVisit ? 'All checks passed. Reload this page.' : 'All data was found again.')
} catch (error) {
  showText('story', String(error))
} finally {
  await host.close()
}
