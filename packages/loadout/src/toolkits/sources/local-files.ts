/** Local config files: an explicit path, the one of `MCP_SECRET_PATH`, and `./mcp-secret.json`. Node only. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HostError } from '../../errors.ts'
import { readConfigText } from '../../schema/read/read-config-text.ts'
import { recordsIn } from './file-source.ts'

export interface LocalFilesOptions {
  /** Value of `MCP_SECRET_PATH`. */
  secretPath?: string | undefined
  /** Base folder of relative paths. @default the working directory */
  folder?: string
}

interface File {
  name: string
  read(): Promise<Record<string, unknown> | undefined>
}

const LOCAL_FILE = './mcp-secret.json'

export function localFiles({ secretPath, folder = '.' }: LocalFilesOptions = {}) {
  const file = (name: string, path: string, mustExist: boolean): File => ({
    name,
    read: () => readRecords(resolve(folder, path), mustExist),
  })
  return {
    inOrder: (path?: string): readonly File[] => [
      ...(path === undefined ? [] : [file(path, path, true)]),
      ...(secretPath === undefined ? [] : [file('MCP_SECRET_PATH', secretPath, true)]),
      file(LOCAL_FILE, LOCAL_FILE, false),
    ],
  }
}

async function readRecords(path: string, mustExist: boolean): Promise<Record<string, unknown> | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !mustExist) return undefined
    throw new HostError('config-invalid', { detail: `the file cannot be read (${code})`, cause: error })
  }
  return recordsIn(readConfigText(text)).records
}
