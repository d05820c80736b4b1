/** `npm start`: builds the UI where it is older than its sources, then starts the server. */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'apps/web')
/** A build made elsewhere is taken as it is, for who works on the pages while others do. */
const ELSEWHERE = process.env.LOADOUT_WEB_DIST
export const WEB_DIST = ELSEWHERE ?? join(web, 'dist')
const SOURCES = ['src', 'index.html', 'vite.config.ts', 'package.json', 'public']

export function isStale(): boolean {
  if (ELSEWHERE) return false
  const built = newest(join(web, 'dist/index.html'))
  return built === 0 || SOURCES.some((source) => newest(join(web, source)) > built)
}

export function buildWeb(): void {
  const result = spawnSync('npm', ['run', '--silent', 'build', '--workspace', '@loadout/web'], {
    cwd: root,
    // Under tests the environment says otherwise, and React would come with all that it checks while one develops.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (result.status !== 0) throw new Error('The web UI could not be built; see above.')
}

function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return 0
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

if (import.meta.main) {
  if (isStale()) {
    console.log('Building the web UI …')
    buildWeb()
  }
  await import('../apps/server/src/main.ts')
}
