/** Folder of the built web UI: beside the published server, or in this repository. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDERS = ['./web', '../../web/dist'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Undefined if the UI was not built. */
export const webFolder: string | undefined = FOLDERS.find((folder) => existsSync(`${folder}/index.html`))
