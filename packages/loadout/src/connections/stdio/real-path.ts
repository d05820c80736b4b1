/** Resolves symbolic links for path checks of command templates. */
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { HostError } from '../../errors.ts'

/** Resolves links of the existing part of a path; the rest is appended. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path)
      throw new HostError('stdio-refused', { detail: 'A path of the command cannot be followed.', cause: error })
    // A dangling link leads to where a file may be created later.
    const link = await readlink(path).catch(() => undefined)
    if (link !== undefined) return realPath(resolve(dirname(path), link))
    return join(await realPath(dirname(path)), basename(path))
  }
}
