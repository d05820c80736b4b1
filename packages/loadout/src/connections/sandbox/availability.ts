/** Checks whether this machine can run a sandbox by starting one. Errors name what is missing and how to fix it. */

import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { HostError } from '../../errors.ts'
import { sanitizeText } from '../errors.ts'
import type { ProcessGroups } from '../stdio/process-group.ts'
import { DEFAULT_PROCESS_LIMITS } from './limits.ts'
import { composeSandbox, type Frame } from './profile.ts'
import { runOnce } from './run-once.ts'

const INSTALL =
  'Ask the operator to install it: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), `apk add bubblewrap util-linux-misc` (Alpine). Or use a remote server (a URL).'
const NAMESPACES =
  'Ask the operator to allow user namespaces: `sysctl -w user.max_user_namespaces=15000`, on Debian also `kernel.unprivileged_userns_clone=1`, on Ubuntu `kernel.apparmor_restrict_unprivileged_userns=0`; in a container, a seccomp profile that allows unshare. Or use a remote server (a URL).'
const TIMEOUT_MS = 10_000
const MAX_OUTPUT_LENGTH = 300

/** Throws `stdio-refused` if no sandbox can start. */
export async function assertAvailable(groups: ProcessGroups, frame: Frame): Promise<void> {
  if (process.platform !== 'linux')
    throw refused('The sandbox needs Linux.', 'Run the host on Linux, or use a remote server (a URL).')
  const probe = composeSandbox(frame, {
    command: '/usr/bin/env',
    args: ['true'],
    env: {},
    limits: DEFAULT_PROCESS_LIMITS,
  })
  const outcome = await runOnce(groups, probe, { timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
    if (HostError.is(error) && error.code === 'spawn-failed')
      throw refused('The sandbox needs bubblewrap, which is not installed.', INSTALL)
    throw error
  })
  if (outcome.code === 0) return
  const output = sanitizeText(outcome.output.slice(-MAX_OUTPUT_LENGTH))
  if (namespacesAreOff())
    throw refused(`User namespaces are off on this machine. bubblewrap said: ${output}`, NAMESPACES)
  throw refused(
    `bubblewrap could not make a sandbox (0.8 or newer and prlimit are needed). It said: ${output}`,
    `${NAMESPACES} Where it is older or prlimit is missing: ${INSTALL}`,
  )
}

function namespacesAreOff(): boolean {
  const isSetTo = (name: string, value: string) => {
    try {
      return readFileSync(`/proc/sys/${name}`, 'utf8').trim() === value
    } catch {
      return false
    }
  }
  return (
    isSetTo('user/max_user_namespaces', '0') ||
    isSetTo('kernel/unprivileged_userns_clone', '0') ||
    isSetTo('kernel/apparmor_restrict_unprivileged_userns', '1')
  )
}

const refused = (detail: string, action: string) => new HostError('stdio-refused', { detail, action })

/** Whether all users may enter the folder or run the program, including all parent folders. */
export function isWorldAccessible(path: string): boolean {
  const may = (statSync(path).mode & 0o001) !== 0
  return may && (dirname(path) === path || isWorldAccessible(dirname(path)))
}
