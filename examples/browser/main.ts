/**
 * The same library in a page: it keeps its data in IndexedDB, and finds it again when the page is loaded again.
 * Try it: `npx vite examples/browser`.
 */
const asked = new URLSearchParams(location.search)
const url = asked.get('server') ?? 'http://127.0.0.1:4310/mcp'
const database = asked.get('database') ?? 'loadout'

//#region example
import { browserKeyRing } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { indexedDb } from '@loadout/core/storage/indexeddb'

const host = createServices({
  storage: indexedDb({ database }),
  keyRing: () => browserKeyRing({ database: `${database}-keys` }), // a key that even this page cannot read
})
const userId = 'me'
const thread = host.thread({ userId, threadId: 'shopping' })

const isFirstVisit = (await host.toolkits.list(userId)).length === 0
if (isFirstVisit) {
  const notes = { name: 'Notes', url, headers: { 'X-Api-Key': 's3cret' } }
  await host.toolkits.register(notes, { tier: 'user', userId }) // the key is encrypted before it is stored
  await thread.loadout() // looks at the server for the first time
  await thread.deactivate('notes.delete_*')
}

const { tools } = await thread.loadout()
const explained = await thread.explain()
const answer = await thread.call({ name: 'notes.list_notes', arguments: {} })
const refused = await thread.call({ name: 'notes.delete_notes', arguments: {} }) // a value, not an exception
//#endregion
const shown = (id: string, lines: string[]) =>
  document.getElementById(id)?.replaceChildren(
    ...lines.map((line) => {
      const item = document.createElement('li')
      item.textContent = line
      return item
    }),
  )
const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(`This does not hold: ${what}`)
}
const told = (id: string, text: string) => document.getElementById(id)?.append(text)

try {
  const refs = tools.map((tool) => tool.ref)
  shown('loadout', refs)
  shown(
    'explain',
    explained.map(({ ref, included, reasons }) => {
      const why = reasons.map((reason) => reason.detail).join(' ')
      return `${ref} is ${included ? 'carried' : 'not carried'}. ${why}`
    }),
  )
  const text = 'content' in answer ? String(answer.content[0]?.text) : answer.error.message
  told('answer', text)
  check(refs.join() === 'notes.list_notes,notes.add_note', `the thread carries two tools, and not ${refs}`)
  check(explained.length === 3, 'all three tools are explained')
  check(text === 'Buy bread, Call Ann', `the notes are read, and not "${text}"`)
  check('error' in refused && refused.error.code === 'not-carried', 'what is switched off is not called')
  const stored = JSON.stringify(await host.toolkits.list(userId))
  check(!stored.includes('s3cret'), 'the key is in no record')
  told('story', isFirstVisit ? 'All of it holds. Load this page again.' : 'It was all still here.')
} catch (error) {
  told('story', String(error))
} finally {
  await host.close()
}
