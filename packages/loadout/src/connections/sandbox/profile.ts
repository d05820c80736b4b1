/**
 * What a sandbox is made of, as arguments of bubblewrap. Inside there is /usr to read, a few files of /etc, an empty home
 * and /tmp that live in memory, and nothing else of this machine: no network, no process but its own, no user that could
 * become another, no environment but the given. The arguments go over a descriptor, because secrets are among them and
 * command lines can be read by everybody. bubblewrap itself is started with an empty environment: what a record sets
 * (LD_PRELOAD and the like) holds inside only.
 */

import { lstatSync, readlinkSync } from 'node:fs'
import type { ProcessSpec } from '../stdio/process-group.ts'
import { STABLE_ENV } from '../stdio/stable-env.ts'
import { type SandboxLimits, underLimits } from './limits.ts'

export const HOME = '/home/sandbox'
export const NODE = '/opt/loadout/bin/node'
/** Whom it seems to be inside; outside that is us, or a number that nobody has. */
const NOBODY = '65534'

export interface Inside {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** @default its home */
  cwd?: string | undefined
  binds?: readonly Bind[]
  /** Beside the usual ones, by their path. */
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
  /** The Node that runs us, where it can be shown inside. */
  node: string | undefined
  /** Whom it runs as outside, where we may choose. */
  uid: number | undefined
}

const PATH = '/opt/loadout/bin:/usr/local/bin:/usr/bin:/bin'
const ROOTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
/** What programs need to start and to check certificates; nothing that tells of this machine or its people. */
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
/** The arguments are read from here; the files follow. */
const ARGS_FD = 3

/** Waits for a line, closes where it came from, and becomes what it was given. */
const WAIT = (fd: number) => ['-c', `read -r _ <&${fd} && exec ${fd}<&- && exec "$@"`, 'sh']

/** The same, started only when it was admitted. */
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
    // What was only needed to hang things up is no place to write to.
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

/** Today's systems have links into /usr here, others have folders. */
function rootArgs(name: string): string[] {
  const path = `/${name}`
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
