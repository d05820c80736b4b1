import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { HostError } from '../../errors.ts'

/** A path with its links followed, as far as it is there; what is not there yet is named below its nearest folder. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path)
      throw new HostError('stdio-refused', { detail: 'A path of the command cannot be followed.', cause: error })
    // A link to what is not there leads to where somebody may still make it.
    const link = await readlink(path).catch(() => undefined)
    if (link !== undefined) return realPath(resolve(dirname(path), link))
    return join(await realPath(dirname(path)), basename(path))
  }
}
