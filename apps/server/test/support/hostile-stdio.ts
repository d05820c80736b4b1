/**
 * Stdio records as attackers wrote them, each of which leaves a mark outside when it runs: a file, or a connection. Most were ways
 * around a list of allowed commands somewhere (Flowise, LiteLLM, LibreChat, Windsurf and their kin; research/reliability.md 3.2).
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeDriverOptions } from '@loadout/core/node'

/** Where marks are left. */
export interface Canary {
  /** A folder that anybody may write to. */
  dir: string
  /** Begins every file that this run leaves. */
  mark: string
  /** Of a listener on this machine. */
  port: number
}

export type HostileRecord = Record<string, unknown>

/** What was planted beforehand, as by an upload: programs and modules that leave the mark of whoever runs them. */
export function plant({ dir, mark }: Canary): void {
  mkdirSync(join(dir, 'bin'), { recursive: true })
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    chmodSync(join(dir, name), 0o755)
  }
  const program = `#!/bin/sh\n: > ${mark}-planted-$(basename "$0")-$$\n`
  for (const name of ['bin/node', 'bin/npx', 'bin/uvx', 'bin/github-mcp', 'evil.sh', 'node']) write(name, program)
  write('evil.cjs', `require('node:fs').writeFileSync('${mark}-module-' + process.pid, '')`)
  write('evil.mjs', `import { writeFileSync } from 'node:fs'; writeFileSync('${mark}-esm-' + process.pid, '')`)
  write('sitecustomize.py', `open('${mark}-site', 'w')`)
  write('startup.pl', `open(F, '>', '${mark}-perl'); 1;`)
  write('evil.pm', `open(F, '>', '${mark}-pm'); 1;`)
  write('rc', `: > ${mark}-rc\n`)
  write('Makefile', `all:\n\t: > ${mark}-make\n`)
  write(
    'package.json',
    JSON.stringify({ name: 'evil', version: '1.0.0', bin: './evil.cjs', scripts: { x: `touch ${mark}-run` } }),
  )
  symlinkSync('/bin/sh', join(dir, 'harmless'))
  symlinkSync(dir, join(dir, 'work'))
}

const command = (command: string, ...args: string[]): HostileRecord => ({ command, args })
const withEnv = (env: Record<string, string>, ...line: string[]): HostileRecord => ({
  command: line[0],
  args: line.slice(1),
  env,
})

export function hostileRecords({ dir, mark, port }: Canary): Record<string, HostileRecord> {
  const touch = (name: string) => `touch ${mark}-${name}`
  const js = (name: string) => `require('node:fs').writeFileSync('${mark}-${name}', '')`
  const call = `require('node:net').connect(${port}, '127.0.0.1')`
  const python = (name: string) => `open('${mark}-${name}', 'w')`
  const perl = (name: string) => `open(F, '>', '${mark}-${name}')`
  const [node, evil, evilEsm] = [process.execPath, join(dir, 'evil.cjs'), join(dir, 'evil.mjs')]
  return {
    // Interpreters and their flags.
    'sh -c': command('sh', '-c', touch('sh')),
    'bash -c': command('bash', '-c', touch('bash')),
    'bash -lc': command('/bin/bash', '-lc', touch('bash-l')),
    'sh -xc': command('/bin/sh', '-xc', touch('sh-x')),
    'sh with a file': command('sh', join(dir, 'evil.sh')),
    'node -e': command(node, '-e', js('node-e')),
    'node --eval=': command(node, `--eval=${js('node-eval')}`),
    'node -p': command(node, '-p', js('node-p')),
    'node -pe': command(node, '-pe', js('node-pe')),
    'node -r': command(node, '-r', evil, '-e', '0'),
    'node --require=': command(node, `--require=${evil}`, '-e', '0'),
    'node --import': command(node, '--import', evilEsm, '-e', '0'),
    'node --import data:': command(
      node,
      '--import',
      `data:text/javascript,import{writeFileSync}from'node:fs';writeFileSync('${mark}-data','')`,
      '-e',
      '0',
    ),
    'node --experimental-loader': command(node, '--experimental-loader', evilEsm, '-e', '0'),
    'node --inspect-brk': command(node, `--inspect=127.0.0.1:0`, '-e', js('inspect')),
    'node --env-file': command(node, `--env-file=${join(dir, 'rc')}`, '-e', js('env-file')),
    'node with a file': command(node, evil),
    'node that calls': command(node, '-e', call),
    'python -c': command('/usr/bin/python3', '-c', python('python')),
    'python -m': command('/usr/bin/python3', '-m', 'timeit', '-n1', python('timeit')),
    'perl -e': command('perl', '-e', perl('perl-e')),
    'perl -M': command('perl', `-I${dir}`, '-Mevil', '-e', '1'),
    'ruby -e': command('ruby', '-e', `File.write('${mark}-ruby', '')`),
    'php -r': command('php', '-r', `touch('${mark}-php');`),
    tclsh: command('/usr/bin/tclsh', join(dir, 'rc')),
    // Package runners.
    'npx -c': command('npx', '-c', touch('npx-c')),
    'npx --call': command('npx', '--call', touch('npx-call')),
    'npx -y -c': command('npx', '-y', '-c', touch('npx-yc')),
    'npx --call=': command('npx', `--call=${touch('npx-call-is')}`),
    'npx -p of a folder': command('npx', '--yes', '-p', dir, 'evil'),
    'npx of a folder': command('npx', '--yes', dir),
    'npx of git': command('npx', '-y', `git+file://${dir}`),
    'npx --node-options': command('npx', `--node-options=--require=${evil}`, '--version'),
    'npx --script-shell': command('npx', `--script-shell=${join(dir, 'evil.sh')}`, '-c', 'true'),
    'npm exec -c': command('npm', 'exec', '-c', touch('npm-exec')),
    'npm run': command('npm', '--prefix', dir, 'run', 'x'),
    'npm config': command('npm', 'explore', '--shell', join(dir, 'evil.sh'), '.'),
    'uvx --from': command('uvx', '--from', dir, 'evil'),
    'uv run': command('uv', 'run', '--no-project', 'sh', '-c', touch('uv')),
    // Programs that run programs.
    env: command('env', 'sh', '-c', touch('env')),
    'env -S': command('/usr/bin/env', '-S', `sh -c "${touch('env-s')}"`),
    xargs: command('xargs', '-a', '/dev/null', 'sh', '-c', touch('xargs')),
    'find -exec': command('find', '/dev/null', '-exec', 'touch', `${mark}-find`, ';'),
    'awk system': command('awk', `BEGIN { system("${touch('awk')}") }`),
    'tar --checkpoint-action': command(
      'tar',
      '-cf',
      '/dev/null',
      '--checkpoint=1',
      `--checkpoint-action=exec=${touch('tar')}`,
      '/etc/hostname',
    ),
    'tar --to-command': command('tar', '-cf', '/dev/null', `--use-compress-program=${touch('tar-i')}`, '/etc/hostname'),
    'ssh ProxyCommand': command('ssh', '-o', `ProxyCommand=${touch('ssh')}`, '-o', 'BatchMode=yes', 'x'),
    'git -c sshCommand': command('git', '-c', `core.sshCommand=${touch('git')} #`, 'ls-remote', 'ssh://x/y'),
    'git -c alias': command('git', '-c', `alias.x=!${touch('git-alias')}`, 'x'),
    'git ext::': command(
      'git',
      '-c',
      'protocol.ext.allow=always',
      'ls-remote',
      `ext::sh -c ${touch('git-ext').replaceAll(' ', '% ')}`,
    ),
    'make -f': command('make', '-C', dir),
    'make --eval': command('make', `--eval=$(shell ${touch('make-eval')})`),
    'vim -c': command('vim', '-es', '-c', `silent !${touch('vim')}`, '-c', 'q'),
    ed: command('script', '-qc', touch('script'), '/dev/null'),
    'sed e': command('sed', '-n', `1e ${touch('sed')}`, '/etc/hostname'),
    'sort --compress-program': command('sort', '-S', '1k', `--compress-program=${join(dir, 'evil.sh')}`, node),
    busybox: command('busybox', 'sh', '-c', touch('busybox')),
    timeout: command('timeout', '5', 'sh', '-c', touch('timeout')),
    nice: command('nice', 'touch', `${mark}-nice`),
    nohup: command('nohup', 'touch', `${mark}-nohup`),
    setsid: command('setsid', '-w', 'touch', `${mark}-setsid`),
    stdbuf: command('stdbuf', '-o0', 'touch', `${mark}-stdbuf`),
    flock: command('flock', '/dev/null', 'touch', `${mark}-flock`),
    unshare: command('unshare', '-Ur', 'touch', `${mark}-unshare`),
    nsenter: command('nsenter', '-t', '1', '-m', 'touch', `${mark}-nsenter`),
    chroot: command('chroot', '/', 'touch', `${mark}-chroot`),
    setpriv: command('setpriv', '--nnp', 'touch', `${mark}-setpriv`),
    prlimit: command('prlimit', '--nofile=10', 'touch', `${mark}-prlimit`),
    sudo: command('sudo', '-n', 'touch', `${mark}-sudo`),
    bwrap: command('bwrap', '--bind', '/', '/', 'touch', `${mark}-bwrap`),
    'ld.so': command('/lib64/ld-linux-x86-64.so.2', '/usr/bin/touch', `${mark}-ld`),
    // Containers.
    'docker run -v /': command('docker', 'run', '--rm', '-v', '/:/host', 'alpine', 'touch', `/host${mark}-docker`),
    'docker --privileged': command(
      'docker',
      'run',
      '--privileged',
      '--pid=host',
      'alpine',
      'nsenter',
      '-t1',
      '-m',
      'touch',
      `${mark}-privileged`,
    ),
    'docker.sock': command(
      node,
      '-e',
      `require('node:http').get({ socketPath: '/var/run/docker.sock', path: '/info' }, () => ${js('docker-sock')})`,
    ),
    // The environment.
    NODE_OPTIONS: withEnv({ NODE_OPTIONS: `--require=${evil}` }, node, '-v', '-e', '0'),
    'NODE_OPTIONS --import': withEnv({ NODE_OPTIONS: `--import=${evilEsm}` }, node, '-e', '0'),
    NODE_PATH: withEnv({ NODE_PATH: dir }, node, '-e', `require('evil.cjs')`),
    LD_PRELOAD: withEnv({ LD_PRELOAD: 'libc.so.6', LD_DEBUG: 'files', LD_DEBUG_OUTPUT: `${mark}-preload` }, node, '-v'),
    LD_LIBRARY_PATH: withEnv({ LD_LIBRARY_PATH: dir, LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: `${mark}-library` }, 'true'),
    LD_AUDIT: withEnv({ LD_AUDIT: join(dir, 'x.so'), LD_DEBUG: 'all', LD_DEBUG_OUTPUT: `${mark}-audit` }, 'true'),
    BASH_ENV: withEnv({ BASH_ENV: join(dir, 'rc') }, 'bash', '-c', ':'),
    ENV: withEnv({ ENV: join(dir, 'rc') }, 'sh', '-i', '-c', ':'),
    'bash functions': withEnv({ 'BASH_FUNC_true%%': `() { ${touch('function')}; }` }, 'bash', '-c', 'true'),
    PYTHONPATH: withEnv({ PYTHONPATH: dir }, '/usr/bin/python3', '-c', '0'),
    PYTHONSTARTUP: withEnv(
      { PYTHONSTARTUP: join(dir, 'sitecustomize.py'), PYTHONINSPECT: '1' },
      '/usr/bin/python3',
      '-i',
      '-c',
      '0',
    ),
    PYTHONWARNINGS: withEnv(
      { PYTHONWARNINGS: 'all:0:antigravity.x:0:0', BROWSER: `sh -c '${touch('browser')}' %s` },
      '/usr/bin/python3',
      '-c',
      '0',
    ),
    PERL5OPT: withEnv({ PERL5OPT: '-Mevil', PERL5LIB: dir }, 'perl', '-e', '1'),
    RUBYOPT: withEnv({ RUBYOPT: `-r${dir}/evil` }, 'ruby', '-e', '1'),
    GIT_SSH_COMMAND: withEnv({ GIT_SSH_COMMAND: `${touch('git-ssh')} #` }, 'git', 'ls-remote', 'ssh://x/y'),
    GIT_CONFIG: withEnv(
      { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'alias.x', GIT_CONFIG_VALUE_0: `!${touch('git-config')}` },
      'git',
      'x',
    ),
    PAGER: withEnv({ GIT_PAGER: touch('pager'), PAGER: touch('pager') }, 'git', '-p', 'help', '-a'),
    npm_config: withEnv(
      { npm_config_node_options: `--require=${evil}`, npm_config_script_shell: join(dir, 'evil.sh') },
      'npm',
      '--prefix',
      dir,
      'run',
      'x',
    ),
    'PATH hijack': withEnv({ PATH: join(dir, 'bin') }, 'node', 'server.js'),
    'PATH hijack of npx': withEnv({ PATH: join(dir, 'bin') }, 'npx', '-y', 'server'),
    'PATH hijack of a template': withEnv({ PATH: join(dir, 'bin'), GITHUB_TOKEN: 'x' }, 'github-mcp', '--org', 'acme'),
    // Where it runs, and what is run there.
    'a program elsewhere': command(join(dir, 'evil.sh')),
    'a link to a shell': command(join(dir, 'harmless'), '-c', touch('link')),
    'a path with dots': command('/usr/bin/../../bin/sh', '-c', touch('dots')),
    'a relative path': command('../../../../../../../../bin/sh', '-c', touch('relative')),
    'a program in cwd': { command: './evil.sh', args: [], cwd: dir },
    'a linked cwd': { command: './evil.sh', args: [], cwd: join(dir, 'work') },
    'cwd traversal': { command: 'touch', args: ['loadout-cwd'], cwd: `${dir}/bin/..` },
    '/proc/self/exe': command('/proc/self/exe', '-e', js('proc-exe')),
    '/proc/self/root': command('/proc/self/root/bin/sh', '-c', touch('proc-root')),
    '/proc/self/cwd': { command: '/proc/self/cwd/evil.sh', args: [], cwd: dir },
    // Spellings.
    'a line break in an argument': command('sh', '-c', `\n${touch('newline')}\n`),
    'a second line of a command': command(`node\n${touch('second')}`, 'server.js'),
    'one string': command(`sh -c "${touch('one')}"`),
    metacharacters: command('node', `server.js; ${touch('meta')} && $(${touch('sub')}) | \`${touch('tick')}\``),
    'a look-alike': command('n\u043ede', '-e', js('look-alike')),
    'full-width': command('\uff53\uff48', '-c', touch('full-width')),
    'zero width': command('s\u200bh', '-c', touch('zero-width')),
    'in a template': { template: 'github', values: { org: '--eval=x', token: 'x' } },
    'past a template': {
      command: 'github-mcp',
      args: ['--org', `acme', '-e`],
      env: { GITHUB_TOKEN: 'x', NODE_OPTIONS: `-r${evil}` },
    },
    'beside a template': {
      template: 'github',
      values: { org: 'acme', token: 'x' },
      command: 'sh',
      args: ['-c', touch('beside')],
    },
    'a path out of a template': { template: 'files', values: { path: `${dir}/../../../../etc` } },
    'a template of nobody': { template: 'sh', values: { c: touch('nobody') } },
  }
}

/** What a careful operator would prepare. */
export const TEMPLATES: NonNullable<NodeDriverOptions['templates']> = [
  {
    id: 'github',
    command: 'github-mcp',
    args: ['--org', '{org}'],
    env: { GITHUB_TOKEN: '{token}' },
    holes: { org: { type: 'string' }, token: { type: 'string' } },
  },
  {
    id: 'files',
    command: 'npx',
    args: ['-y', 'files@1.0.0', '{path}'],
    holes: { path: { type: 'path', roots: ['/srv'] } },
  },
]
