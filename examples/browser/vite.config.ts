/** `npx vite examples/browser` shows the page, with its server beside it. */
import { startNotes } from './server.ts'

const notes = { name: 'notes', configureServer: async () => void (await startNotes(4310)) }

export default { plugins: [notes] }
