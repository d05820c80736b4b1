/**
 * Builds the bubblewrap arguments of a sandbox. Inside are a read-only /usr, a few files of /etc, and an in-memory home
 * and /tmp. There is no network, no other process, no way to change the user, and no inherited environment. Arguments
 * are passed over a descriptor, because they contain secrets and command lines are public. bubblewrap starts with an
 * empty environment, so that variables such as LD_PRELOAD only apply inside.
 */

import { lstatSync, readlinkSync } from 'node:fs'
import type { ProcessSpec } from '../stdio/process-group.ts'
import { STABLE_ENV } from '../stdio/stable-env.ts'
import { type SandboxLimits, underLimits } from './limits.ts'

export const HOME = '/home/sandbox'
export const NODE = '/opt/loadout/bin/node'
/** uid and gid inside the sandbox. */
const NOBODY = '65534'

export interface Inside {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** @default the home folder */
  cwd?: string | undefined
  binds?: readonly Bind[]
  /** Additional files by path. */
  files?: Readonly<Record<string, string>>
  limits: Required<SandboxLimits>
}

export interface Bind {
  from: string
  to: string
  /** @default false */
  writable?: boolean
}

export interface Frame {
  bwrap: string
  /** Node binary to mount, if the sandbox may read it. */
  node: string | undefined
  /** uid outside the sandbox, if the host may choose it. */
  uid: number | undefined
}

const PATH = '/opt/loadout/bin:/usr/local/bin:/usr/bin:/bin'
const ROOTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
/** Files that programs need to start and to check certificates; none describes this machine or its users. */
const ETC = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/pki/ca-trust',
  '/etc/pki/tls/certs',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
]
const FILES = {
  '/etc/passwd': `sandbox:x:${NOBODY}:${NOBODY}::${HOME}:/bin/sh\n`,
  '/etc/group': `sandbox:x:${NOBODY}:\n`,
  '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
}
/** Descriptor of the arguments; the files follow. */
const ARGS_FD = 3

/** Reads a line from the descriptor, closes it, and executes the command. */
const WAIT = (fd: number) => ['-c', `read -r _ <&${fd} && exec ${fd}<&- && exec "$@"`, 'sh']

/** Returns a spec whose program starts after `admit`. */
export function withAdmission(spec: ProcessSpec, admit: (pid: number) => Promise<void>): ProcessSpec {
  const fd = ARGS_FD + (spec.inputs?.length ?? 0)
  return { ...spec, command: '/bin/sh', args: [...WAIT(fd), spec.command, ...spec.args], env: { PATH }, admit }
}

export function composeSandbox(frame: Frame, inside: Inside): ProcessSpec {
  const files = Object.entries({ ...FILES, ...inside.files })
  const args = [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    '--clearenv',
    '--hostname',
    'sandbox',
    '--uid',
    NOBODY,
    '--gid',
    NOBODY,
    '--cap-drop',
    'ALL',
    '--ro-bind',
    '/usr',
    '/usr',
    ...ROOTS.flatMap(rootArgs),
    ...ETC.flatMap((path) => ['--ro-bind-try', path, path]),
    ...files.flatMap(([path], index) => ['--file', String(ARGS_FD + 1 + index), path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...['/dev/shm', '/tmp', HOME].flatMap((path) => ['--size', String(inside.limits.scratchBytes), '--tmpfs', path]),
    ...(frame.node === undefined ? [] : ['--ro-bind', frame.node, NODE]),
    ...(inside.binds ?? []).flatMap(({ from, to, writable }) => [writable ? '--bind' : '--ro-bind', from, to]),
    // The root is only writable during setup.
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    ...(inside.cwd === undefined ? [] : ['--dir', inside.cwd]),
    '--chdir',
    inside.cwd ?? HOME,
    ...Object.entries(createEnvironment(inside.env)).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
  return {
    command: frame.bwrap,
    args: ['--args', String(ARGS_FD), '--', ...underLimits(inside.limits, [inside.command, ...inside.args])],
    env: {},
    cwd: '/',
    inputs: [args.map((arg) => `${arg}\0`).join(''), ...files.map(([, text]) => text)],
    uid: frame.uid,
  }
}

const createEnvironment = (overrides: Readonly<Record<string, string>>) => ({
  PATH,
  HOME,
  USER: 'sandbox',
  LOGNAME: 'sandbox',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  ...STABLE_ENV,
  ...overrides,
})

/** These are links into /usr on current systems and folders on others. */
function rootArgs(name: string): string[] {
  const path = `/${name}`
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
